// SPDX-License-Identifier: Apache-2.0
// Builds the plan: expressions, symbols, buffers, kernels and steps.
#include "codegen/PlanBuilder.h"

#include "codegen/Emitter.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc;
using namespace dlc::codegen;
using plan::ExpressionOp;
using plan::kNone;

plan::ElementType codegen::planType(DataType type) {
  switch (type) {
#define DLC_SAME(name)                                                         \
  case DataType::name:                                                         \
    return plan::ElementType::name
    DLC_SAME(F64);
    DLC_SAME(F32);
    DLC_SAME(F16);
    DLC_SAME(BF16);
    DLC_SAME(F8E4M3);
    DLC_SAME(F8E5M2);
    DLC_SAME(I64);
    DLC_SAME(I32);
    DLC_SAME(I16);
    DLC_SAME(I8);
    DLC_SAME(I4);
    DLC_SAME(U64);
    DLC_SAME(U32);
    DLC_SAME(U16);
    DLC_SAME(U8);
    DLC_SAME(U4);
    DLC_SAME(Bool);
#undef DLC_SAME
  }
  return plan::ElementType::U8;
}

static LoweredModule emptyModule() {
  LoweredModule m;
  m.plan = std::make_unique<plan::PlanT>();
  m.plan->schema_version = plan::kSchemaVersion;
  m.plan->kernel_abi = plan::kKernelAbi;
  m.plan->streams = 1;
  return m;
}

PlanBuilder::PlanBuilder(const SymbolTable &symbols, const Target &target)
    : symbols(symbols), target(target), result(emptyModule()),
      pool(result.plan->expressions) {}

//===--- Expressions and symbols ------------------------------------------===//

uint32_t PlanBuilder::addSymbol(llvm::StringRef name, plan::Home home) {
  auto s = std::make_unique<plan::SymbolT>();
  s->name = name.str();
  s->home = home;
  s->lower = 0;
  plan().symbols.push_back(std::move(s));
  return symbolIndices[name.str()] = plan().symbols.size() - 1;
}

llvm::Error PlanBuilder::declareSymbols(const Graph &graph,
                                        llvm::ArrayRef<unsigned> states) {
  auto declare = [&](const Symbol &symbol, plan::Home home) {
    uint32_t i = addSymbol(symbol.name, home);
    plan::SymbolT &s = *plan().symbols[i];
    s.lower = symbol.lower;
    s.upper = symbol.upper.value_or(INT64_MAX);
    s.divisibility = symbol.divisor;
    return i;
  };
  unsigned port = 0;
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    if (llvm::is_contained(states, i))
      continue;
    const unsigned input = port++;
    const Shape &shape = graph.input(i)->type().shape;
    for (size_t axis = 0; axis < shape.size(); axis++) {
      if (shape[axis].kind() != Dim::Kind::Symbol)
        continue;
      llvm::StringRef name = shape[axis].symbolName();
      auto it = symbols.find(name);
      if (symbolIndices.count(name.str()) || it == symbols.end() ||
          it->second.home != SymbolHome::HostArgument)
        continue;
      plan::SymbolT &s =
          *plan().symbols[declare(it->second, plan::Home::HostArgument)];
      s.input = input;
      s.axis = axis;
    }
  }
  // A device cell's bound may depend on cells before it.
  llvm::SmallVector<const Symbol *, 4> cells;
  for (const auto &[name, symbol] : symbols)
    if (symbol.home == SymbolHome::DeviceCell)
      cells.push_back(&symbol);
  while (!cells.empty()) {
    auto ready = llvm::find_if(cells, [&](const Symbol *s) {
      bool known = true;
      if (s->bound)
        s->bound->forEachSymbol([&](llvm::StringRef name) {
          known &= symbolIndices.count(name.str()) != 0;
        });
      return known;
    });
    if (ready == cells.end())
      return refuse("the bound of symbol \"" + cells[0]->name +
                    "\" depends on a symbol that no input has");
    uint32_t i = declare(**ready, plan::Home::DeviceCell);
    if ((*ready)->bound)
      plan().symbols[i]->bound = expression(*(*ready)->bound);
    cells.erase(ready);
  }
  return llvm::Error::success();
}

uint32_t PlanBuilder::symbolIndex(llvm::StringRef name) const {
  auto it = symbolIndices.find(name);
  DLC_CHECK(it != symbolIndices.end())
      << "the symbol '" << name << "' is not the size of an input's dimension";
  return it->second;
}

uint32_t PlanBuilder::expression(const Dim &d) {
  auto binary = [&](ExpressionOp op) {
    llvm::ArrayRef<Dim> ops = d.operands();
    uint32_t value = expression(ops[0]);
    for (const Dim &o : ops.drop_front())
      value = pool.binary(op, value, expression(o));
    return value;
  };
  switch (d.kind()) {
  case Dim::Kind::Constant:
    return pool.constant(d.constant());
  case Dim::Kind::Symbol:
    return pool.symbol(symbolIndex(d.symbolName()));
  case Dim::Kind::Add:
    return binary(ExpressionOp::Add);
  case Dim::Kind::Mul:
    return binary(ExpressionOp::Mul);
  case Dim::Kind::FloorDiv:
    return binary(ExpressionOp::FloorDiv);
  case Dim::Kind::CeilDiv:
    return binary(ExpressionOp::CeilDiv);
  case Dim::Kind::Mod:
    return binary(ExpressionOp::Mod);
  case Dim::Kind::Max:
    return binary(ExpressionOp::Max);
  case Dim::Kind::Min:
    return binary(ExpressionOp::Min);
  case Dim::Kind::Overflow:
    break;
  }
  DLC_CHECK(false) << "a size that overflows: " << d.str();
  return kNone;
}

void PlanBuilder::require(const Dim &d, int64_t most,
                          llvm::StringRef sentence) {
  uint32_t left = expression(d), right = expression(most);
  if (!required.emplace(left, right).second)
    return;
  auto c = std::make_unique<plan::ConstraintT>();
  c->left = left;
  c->relation = plan::Relation::LessEqual;
  c->right = right;
  c->sentence = sentence.str();
  plan().constraints.push_back(std::move(c));
}

llvm::Error PlanBuilder::addConstraints(const ConstraintList &constraints) {
  for (const Constraint &c : constraints) {
    // Passes may have learnt what proves it.
    if (prove(c, symbols) == Proof::Proved)
      continue;
    llvm::Error bad = llvm::Error::success();
    for (const Dim &d : {c.left, c.right})
      d.forEachSymbol([&](llvm::StringRef name) {
        auto it = symbols.find(name);
        if (bad || (it != symbols.end() &&
                    it->second.home == SymbolHome::HostArgument &&
                    symbolIndices.count(name.str())))
          return;
        bad = refuse(c.sentence + ", which cannot be told before the run: \"" +
                     name.str() + "\" is counted while it runs");
      });
    if (bad)
      return bad;
    auto made = std::make_unique<plan::ConstraintT>();
    made->left = expression(c.left);
    made->relation = c.relation == Relation::Equal ? plan::Relation::Equal
                                                   : plan::Relation::LessEqual;
    made->right = expression(c.right);
    made->sentence = c.sentence;
    plan().constraints.push_back(std::move(made));
  }
  return llvm::Error::success();
}

//===--- Buffers ----------------------------------------------------------===//

uint32_t PlanBuilder::addBuffer(plan::Space space, const Dim &bytes,
                                DataType type, llvm::StringRef name) {
  auto b = std::make_unique<plan::BufferT>();
  b->space = space;
  b->bytes = expression(bytes);
  b->type = planType(type);
  b->name = name.str();
  // What vector loads need; the caller's memory is checked for it.
  b->alignment =
      space == plan::Space::Input || space == plan::Space::Output ? 16 : 256;
  b->first = b->last = next;
  plan().buffers.push_back(std::move(b));
  return plan().buffers.size() - 1;
}

uint32_t PlanBuilder::addAlias(uint32_t of, const Dim &byteOffset,
                               const Dim &bytes, DataType type,
                               llvm::StringRef name) {
  uint32_t i = addBuffer(plan().buffers[of]->space, bytes, type, name);
  plan().buffers[i]->alias = of;
  if (!byteOffset.isConstant(0))
    plan().buffers[i]->alias_offset = expression(byteOffset);
  return i;
}

uint32_t PlanBuilder::weight(const Constant &constant, llvm::StringRef name) {
  auto [begin, end] = weightBuffers.equal_range(constant.hash());
  for (auto it = begin; it != end; ++it)
    if (it->second.first == constant)
      return it->second.second;
  const TensorType &type = constant.type();
  auto w = std::make_unique<plan::WeightT>();
  w->name = name.empty() ? "constant " + std::to_string(result.weights.size())
                         : name.str();
  w->type = planType(type.element);
  LoweredWeight lowered{constant, {}};
  if (constant.isSplat())
    lowered.expanded = constant.expandedBytes();
  w->bytes = lowered.bytes().size();
  for (const Dim &d : type.shape)
    w->dims.push_back(d.constant());
  uint32_t buffer =
      addBuffer(plan::Space::Weight, int64_t(w->bytes), type.element, w->name);
  plan().buffers[buffer]->weight = plan().weights.size();
  plan().weights.push_back(std::move(w));
  result.weights.push_back(std::move(lowered));
  weightBuffers.emplace(constant.hash(), std::pair(constant, buffer));
  return buffer;
}

uint32_t PlanBuilder::root(uint32_t buffer) const {
  while (result.plan->buffers[buffer]->alias != kNone)
    buffer = result.plan->buffers[buffer]->alias;
  return buffer;
}

void PlanBuilder::touch(uint32_t buffer, uint32_t position) {
  plan::BufferT &b = *plan().buffers[root(buffer)];
  b.first = std::min(b.first, position);
  b.last = std::max(b.last, position);
}

uint32_t PlanBuilder::cell(llvm::StringRef symbol) {
  uint32_t i = symbolIndex(symbol);
  if (plan().symbols[i]->cell == kNone) {
    uint32_t b = addBuffer(plan::Space::Cell, 8, DataType::I64, symbol);
    plan().symbols[i]->cell = b;
  }
  return plan().symbols[i]->cell;
}

//===--- Steps ------------------------------------------------------------===//

uint32_t PlanBuilder::addBlock() {
  plan().blocks.push_back(std::make_unique<plan::BlockT>());
  return plan().blocks.size() - 1;
}

void PlanBuilder::addStep(uint32_t block, plan::ActionUnion action,
                          llvm::ArrayRef<std::string> nodes) {
  auto step = std::make_unique<plan::StepT>();
  step->action = std::move(action);
  step->nodes.assign(nodes.begin(), nodes.end());
  plan().blocks[block]->steps.push_back(std::move(step));
  next++;
}

uint32_t PlanBuilder::kernel(const KernelSource &source,
                             llvm::ArrayRef<std::string> nodes) {
  auto [it, fresh] =
      kernelIndices.try_emplace(source.name, result.kernels.size());
  uint32_t index = it->second;
  if (fresh) {
    auto k = std::make_unique<plan::KernelT>();
    k->name = source.name;
    k->binary = k->source = index;
    k->threads = source.threads;
    k->smem_bytes = source.smemBytes;
    k->cluster = source.cluster;
    k->parameter_bytes = source.parameterBytes();
    k->maps = source.maps;
    k->buffers = source.buffers;
    k->cells = source.cells;
    k->symbols = source.symbols;
    k->pdl = source.pdl && target.hasHopper();
    k->cooperative = source.cooperative;
    plan().kernels.push_back(std::move(k));
    result.kernels.push_back(source);
    kernelNodes.emplace_back();
  }
  for (const std::string &n : nodes)
    if (!llvm::is_contained(kernelNodes[index], n))
      kernelNodes[index].push_back(n);
  return index;
}

uint32_t PlanBuilder::tensorMap(const TensorMapRef &map) {
  auto m = std::make_unique<plan::TensorMapT>();
  m->type = planType(map.element);
  if (!map.offset.isConstant(0))
    m->offset = expression(map.offset);
  for (const Dim &d : map.dims)
    m->dims.push_back(expression(d));
  for (const Dim &d : map.strides)
    m->strides.push_back(expression(d));
  m->element_strides.assign(map.dims.size(), 1);
  m->swizzle = plan::MapSwizzle::B128;
  if (map.im2col) {
    m->kind = plan::MapKind::Im2col;
    m->lower_corner = map.lower;
    m->upper_corner = map.upper;
    llvm::copy(map.steps, m->element_strides.begin() + 1);
    m->channels = map.channels;
    m->pixels = map.pixels;
  } else {
    m->box = map.box;
  }
  plan().maps.push_back(std::move(m));
  return plan().maps.size() - 1;
}

/// A name on one line, which no comment's end or continuation hides in.
static std::string commentText(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += uint8_t(c) < 32 || c == '\\' ? '_' : c;
  return text;
}

LoweredModule PlanBuilder::finish() {
  for (auto [a, b] : tied) {
    plan::BufferT &x = *plan().buffers[a], &y = *plan().buffers[b];
    x.first = y.first = std::min(x.first, y.first);
    x.last = y.last = std::max(x.last, y.last);
  }
  for (size_t i = 0; i < result.kernels.size(); i++) {
    KernelSource &k = result.kernels[i];
    std::string head = "// " + k.name + "\n";
    std::string line;
    for (const std::string &n : kernelNodes[i]) {
      if (!line.empty() && line.size() + n.size() > 76) {
        head += line + ",\n";
        line = "//       ";
      } else {
        line += line.empty() ? "// nodes:" : ",";
      }
      line += " " + commentText(n);
    }
    if (!line.empty())
      head += line + "\n";
    k.text = head + k.text;
  }
  return std::move(result);
}
