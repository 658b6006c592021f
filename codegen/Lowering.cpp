// SPDX-License-Identifier: Apache-2.0
// From a module of fusions to a plan: inputs, ops, outputs.
#include "codegen/ModuleLowering.h"

#include "codegen/IndexPrinter.h"
#include "ir/AccessMap.h"
#include "ir/Decompose.h"

using namespace dlc;
using namespace dlc::codegen;
using plan::kNone;

/// The error with the op's ONNX nodes in front.
static llvm::Error at(const Op &op, llvm::Error error) {
  std::string where = op.location().str();
  return refuse((where.empty() ? op.mnemonic().str() : where) + ": " +
                llvm::toString(std::move(error)));
}

llvm::Expected<LoweredModule> codegen::lower(const Module &module,
                                             const Target &target,
                                             const CodegenOptions &options) {
  return ModuleLowering(module, target, options).run();
}

llvm::Expected<LoweredModule> ModuleLowering::run() {
  if (llvm::Error e = findStates())
    return e;
  llvm::SmallVector<unsigned, 2> stateInputs;
  for (const StatePair &s : states)
    stateInputs.push_back(s.input);
  if (llvm::Error e = builder.declareSymbols(module.main(), stateInputs))
    return e;
  if (llvm::Error e = builder.addConstraints(module.constraints))
    return e;
  uint32_t block = builder.addBlock();
  if (llvm::Error e = lowerInputs())
    return e;
  // Outputs are written in place where one kernel writes them.
  const Graph &graph = module.main();
  llvm::SmallVector<uint32_t, 4> inPlace;
  for (auto [i, v] : llvm::enumerate(graph.outputs())) {
    uint32_t buffer = kNone;
    bool kept = llvm::any_of(
        states, [&, i = i](const StatePair &s) { return s.output == i; });
    if (!kept && !isSizedByDevice(v->type()) && !buffers.count(v)) {
      buffer = builder.addBuffer(plan::Space::Output, v->type().storageBytes(),
                                 v->type().element, "");
      if (!assign(v, buffer)) {
        builder.plan().buffers.pop_back();
        buffer = kNone;
      }
    }
    inPlace.push_back(buffer);
  }
  if (llvm::Error e = lowerGraph(graph, block))
    return e;
  if (llvm::Error e = lowerOutputs(inPlace, block))
    return e;
  keepStates(block);
  return builder.finish();
}

llvm::Error ModuleLowering::lowerOutputs(llvm::ArrayRef<uint32_t> inPlace,
                                         uint32_t block) {
  const Graph &graph = module.main();
  for (auto [i, v] : llvm::enumerate(graph.outputs())) {
    if (llvm::any_of(states,
                     [&, i = i](const StatePair &s) { return s.output == i; }))
      continue;
    std::string name =
        i < graph.outputNames.size() ? graph.outputNames[i] : v->name;
    if (!v->type().layout.isRowMajor())
      return refuse("output \"" + name + "\" is stored as " + v->type().str() +
                    ", expected row-major");
    uint32_t buffer = inPlace[i];
    if (buffer == kNone) {
      buffer = bufferOf(v);
      builder.touch(buffer, builder.position());
      // Two outputs never share memory, and none shares it with a state.
      plan::Space space = builder.plan().buffers[builder.root(buffer)]->space;
      if (space == plan::Space::Output || space == plan::Space::State) {
        uint32_t own =
            builder.addBuffer(plan::Space::Output, v->type().storageBytes(),
                              v->type().element, name);
        copy(buffer, own, v->type().storageBytes(), block, Location());
        buffer = own;
      }
    }
    builder.plan().buffers[buffer]->name = name;
    auto port = std::make_unique<plan::PortT>();
    port->name = name;
    port->type = planType(v->type().element);
    for (const Dim &d : v->type().shape)
      port->dims.push_back(builder.expression(d));
    port->buffer = buffer;
    builder.plan().outputs.push_back(std::move(port));
  }
  // The true sizes of outputs that kernels size.
  std::vector<std::string> read;
  for (Value *v : graph.outputs())
    for (const Dim &d : v->type().shape)
      d.forEachSymbol([&](llvm::StringRef s) {
        auto it = symbols.find(s);
        if (it == symbols.end() || it->second.home != SymbolHome::DeviceCell ||
            llvm::is_contained(read, s))
          return;
        read.push_back(s.str());
        plan::HostReadT host;
        host.buffer = builder.cell(s);
        host.type = plan::ElementType::I64;
        host.symbol = builder.symbolIndex(s);
        plan::ActionUnion action;
        action.Set(std::move(host));
        builder.addStep(block, std::move(action), {});
      });
  // What an output shows must outlive the last step.
  for (auto &port : builder.plan().outputs)
    builder.touch(port->buffer, builder.position());
  return llvm::Error::success();
}

llvm::Error ModuleLowering::lowerInputs() {
  const Graph &graph = module.main();
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    Value *v = graph.input(i);
    const TensorType &type = v->type();
    if (!type.layout.isRowMajor())
      return refuse("input \"" + v->name + "\" is stored as " + type.str() +
                    ", expected row-major");
    bool kept =
        llvm::any_of(states, [&](const StatePair &s) { return s.input == i; });
    uint32_t b =
        builder.addBuffer(kept ? plan::Space::State : plan::Space::Input,
                          type.storageBytes(), type.element, v->name);
    buffers[v] = b;
    if (kept)
      continue;
    auto port = std::make_unique<plan::PortT>();
    port->name = v->name;
    port->type = planType(type.element);
    for (const Dim &d : type.shape)
      port->dims.push_back(builder.expression(d));
    port->buffer = b;
    builder.plan().inputs.push_back(std::move(port));
  }
  return llvm::Error::success();
}

//===--- Values and buffers -----------------------------------------------===//

bool ModuleLowering::isSizedByDevice(const TensorType &type) const {
  bool found = false;
  for (const Dim &d : type.shape)
    d.forEachSymbol([&](llvm::StringRef s) {
      auto it = symbols.find(s);
      found |= it != symbols.end() && it->second.home == SymbolHome::DeviceCell;
    });
  return found;
}

std::optional<Dim> ModuleLowering::aliasOffset(const Op &op) const {
  if (!op.hasTrait(OpTrait::View) || op.numOperands() == 0)
    return std::nullopt;
  const TensorType &type = op.result()->type();
  IndexPrinter index(symbols, nullptr);
  Shape at;
  for (int64_t d = 0; d < type.rank(); d++)
    at.push_back(
        type.shape[d].isConstant(1)
            ? Dim(0)
            : index.declare("%" + std::to_string(d), type.shape[d], nullptr));
  AccessMap map = accessMap(op, at);
  if (map.accesses.size() != 1 || !map.accesses[0].valid.empty())
    return std::nullopt;
  const TensorType &from = op.operand(map.accesses[0].operand)->type();
  if (map.accesses[0].operand != 0 || from.element != type.element ||
      bitWidth(type.element) < 8)
    return std::nullopt;
  Dim source =
      index.simplify(from.layout.offset(from.shape, map.accesses[0].index));
  Dim result = index.simplify(type.layout.offset(type.shape, at));
  Dim distance =
      index.simplify(source - result) * int64_t(bitWidth(type.element) / 8);
  bool fixed = true;
  distance.forEachSymbol(
      [&](llvm::StringRef s) { fixed &= !s.starts_with("%"); });
  // Kernels load vectors of up to 16 bytes from the start of a buffer.
  if (!fixed || !isMultipleOf(distance, 16, symbols))
    return std::nullopt;
  return distance;
}

uint32_t ModuleLowering::bufferOf(const Value *value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    return it->second;
  const Op *op = value->definingOp();
  DLC_CHECK(op && op->kind() == OpKind::Constant)
      << "a value is used before it is computed: " << value->name;
  auto nodes = op->location().nodes();
  std::string name = !value->name.empty() ? value->name
                     : nodes.empty()      ? ""
                                          : nodes[0];
  return buffers[value] =
             builder.weight(llvm::cast<ConstantOp>(op).value(), name);
}

uint32_t ModuleLowering::makeBuffer(const Value *value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    return it->second;
  if (auto join = joins.find(value); join != joins.end()) {
    makeJoin(*join->second);
    return buffers[value];
  }
  const TensorType &type = value->type();
  return buffers[value] =
             builder.addBuffer(plan::Space::Arena, type.storageBytes(),
                               type.element, value->name);
}

bool ModuleLowering::assign(const Value *value, uint32_t buffer) {
  const Op *op = value->definingOp();
  if (!op || op->kind() == OpKind::Constant || op->kind() == OpKind::If ||
      op->kind() == OpKind::Loop || buffers.count(value) || joins.count(value))
    return false;
  std::optional<Dim> offset = aliasOffset(*op);
  if (offset) {
    const Value *operand = op->operand(0);
    if (!offset->isConstant(0) ||
        operand->type().storageBytes() != value->type().storageBytes() ||
        !assign(operand, buffer))
      return false;
  }
  buffers[value] = buffer;
  return true;
}

void ModuleLowering::copy(uint32_t from, uint32_t to, const Dim &bytes,
                          uint32_t block, const Location &location) {
  plan::CopyT c;
  c.from = from;
  c.to = to;
  c.bytes = builder.expression(bytes);
  builder.touch(from, builder.position());
  builder.touch(to, builder.position());
  plan::ActionUnion action;
  action.Set(std::move(c));
  builder.addStep(block, std::move(action), location.nodes());
}

//===--- Ops --------------------------------------------------------------===//

llvm::Error ModuleLowering::lowerGraph(const Graph &graph, uint32_t block) {
  placeJoins(graph);
  for (const Op &op : graph.ops())
    if (llvm::Error e = lowerOp(op, block))
      return e;
  return llvm::Error::success();
}

llvm::Error ModuleLowering::lowerOp(const Op &op, uint32_t block) {
  switch (op.kind()) {
  case OpKind::Constant:
    return llvm::Error::success(); // a weight where it is read
  case OpKind::If:
    return lowerIf(llvm::cast<IfOp>(&op), block);
  case OpKind::Loop:
    return lowerLoop(llvm::cast<LoopOp>(&op), block);
  default:
    break;
  }
  if (placed.contains(&op)) {
    if (options.report)
      builder.report(op.location().str() +
                     ": its parts are written where they belong");
    return llvm::Error::success();
  }
  if (std::optional<Dim> offset = aliasOffset(op)) {
    const Value *result = op.result();
    if (buffers.count(result))
      return llvm::Error::success(); // written in place
    uint32_t from = bufferOf(op.operand(0));
    buffers[result] =
        builder.addAlias(from, *offset, result->type().storageBytes(),
                         result->type().element, result->name);
    return llvm::Error::success();
  }
  const bool attention = op.kind() == OpKind::Attention;
  if (op.kind() != OpKind::Fusion && !attention) {
    if (llvm::Error e = lowerUnit(op, block))
      return at(op, std::move(e));
    return llvm::Error::success();
  }
  llvm::Error whole = lowerUnit(op, block);
  if (!whole)
    return llvm::Error::success();
  std::string reason = llvm::toString(std::move(whole));
  if (options.report)
    builder.report(op.location().str() + ": the " +
                   (attention ? "attention" : "fusion") +
                   " runs op by op: " + reason);
  if (attention)
    return lowerDecomposed(llvm::cast<AttentionOp>(&op), block);
  return lowerBody(llvm::cast<FusionOp>(&op), block);
}

llvm::Error ModuleLowering::lowerUnit(const Op &op, uint32_t block) {
  Unit unit(op);
  if (unit.isEmpty()) {
    for (unsigned i = 0; i < op.numResults(); i++)
      makeBuffer(op.result(i));
    return llvm::Error::success();
  }
  EmitContext context{target, symbols};
  llvm::Expected<Emitted> emitted = emit(unit, context);
  if (!emitted)
    return emitted.takeError();
  commit(unit, emitted->emission, block);
  if (options.report) {
    const std::string parts = unit.parts().str();
    builder.report((op.location().str().empty() ? op.mnemonic().str()
                                                : op.location().str()) +
                   ": " + emitted->emission.report +
                   (parts.empty() ? "" : "; " + parts));
  }
  return llvm::Error::success();
}

void ModuleLowering::commit(const Unit &unit, const Emission &emission,
                            uint32_t block) {
  llvm::ArrayRef<std::string> nodes = unit.op().location().nodes();
  llvm::SmallVector<uint32_t, 2> workspaces;
  for (const Workspace &w : emission.workspaces)
    workspaces.push_back(
        !w.cellOf.empty()
            ? builder.cell(w.cellOf)
            : builder.addBuffer(plan::Space::Arena,
                                w.elements * int64_t(bitWidth(w.element) / 8),
                                w.element, "workspace"));
  auto bufferOfRef = [&](const BufferRef &ref) {
    uint32_t b = kNone;
    switch (ref.kind) {
    case BufferRef::Kind::Input:
      b = bufferOf(unit.inputs()[ref.index]);
      break;
    case BufferRef::Kind::Result:
      b = makeBuffer(unit.op().result(ref.index));
      break;
    case BufferRef::Kind::Workspace:
      b = workspaces[ref.index];
      break;
    case BufferRef::Kind::Weight:
      b = builder.weight(ref.constant, nodes.empty() ? "" : nodes[0]);
      break;
    }
    builder.touch(b, builder.position());
    return b;
  };
  for (const EmittedStep &step : emission.steps) {
    plan::ActionUnion action;
    if (const FillBytes *f = std::get_if<FillBytes>(&step)) {
      plan::FillT fill;
      fill.buffer = bufferOfRef(f->buffer);
      fill.bytes = builder.expression(f->bytes);
      fill.value = f->value;
      fill.width = 1;
      action.Set(std::move(fill));
    } else {
      const Launch &l = std::get<Launch>(step);
      for (const Dim &d : l.limited)
        builder.require(d, kNarrowElements,
                        "expected at most as many elements in one tensor as "
                        "kernels count in 32 bits; a range in --shape that "
                        "allows more gives kernels that count in 64");
      plan::LaunchT launch;
      launch.kernel = builder.kernel(l.kernel, nodes);
      launch.grid_x = builder.expression(l.grid[0]);
      launch.grid_y = builder.expression(l.grid[1]);
      launch.grid_z = builder.expression(l.grid[2]);
      for (auto [i, map] : llvm::enumerate(l.maps))
        launch.patches.emplace_back(i * 128, plan::PatchKind::Map,
                                    bufferOfRef(map.buffer),
                                    builder.tensorMap(map));
      uint32_t byte = l.kernel.maps * 128;
      auto patch = [&](plan::PatchKind kind, uint32_t buffer, uint32_t value) {
        launch.patches.emplace_back(byte, kind, buffer, value);
        byte += 8;
      };
      for (const BufferRef &ref : l.buffers)
        patch(plan::PatchKind::Pointer, bufferOfRef(ref), kNone);
      for (const std::string &symbol : l.cells) {
        uint32_t cell = builder.cell(symbol);
        builder.touch(cell, builder.position());
        patch(plan::PatchKind::Cell, cell, kNone);
      }
      for (const Dim &d : l.symbols)
        patch(plan::PatchKind::Symbol, 0, builder.expression(d));
      action.Set(std::move(launch));
    }
    builder.addStep(block, std::move(action), nodes);
  }
}

llvm::Error ModuleLowering::lowerDecomposed(AttentionOp op, uint32_t block) {
  llvm::SmallVector<uint32_t, 4> inputs;
  for (const Value *operand : op->operands())
    if (operand)
      inputs.push_back(bufferOf(operand));
  decomposed.push_back(decompose(op));
  return lowerRegion(*decomposed.back(), inputs, {makeBuffer(op.result())},
                     block);
}

llvm::Error ModuleLowering::lowerBody(const FusionOp &fusion, uint32_t block) {
  Graph &body = fusion.body();
  for (unsigned i = 0; i < body.numInputs(); i++)
    if (Value *outer = fusion->operand(i))
      buffers[body.input(i)] = bufferOf(outer);
  llvm::SmallVector<uint32_t, 2> results;
  for (unsigned i = 0; i < fusion->numResults(); i++)
    results.push_back(makeBuffer(fusion.result(i)));
  for (auto [i, v] : llvm::enumerate(body.outputs()))
    assign(v, results[i]);
  if (llvm::Error e = lowerGraph(body, block))
    return e;
  for (auto [i, v] : llvm::enumerate(body.outputs()))
    if (uint32_t b = bufferOf(v); b != results[i])
      copy(b, results[i], v->type().storageBytes(), block, fusion.location());
  return llvm::Error::success();
}
