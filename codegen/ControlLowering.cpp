// SPDX-License-Identifier: Apache-2.0
// If and loop as nested blocks of steps.
#include "codegen/ModuleLowering.h"

#include "ir/Builder.h"
#include "ir/ShapeValue.h"

using namespace dlc;
using namespace dlc::codegen;
using plan::kNone;

void ModuleLowering::readAgain(uint32_t buffer, DataType type, uint32_t symbol,
                               uint32_t block, const Location &location) {
  plan::HostReadT read;
  read.buffer = buffer;
  read.type = planType(type);
  read.symbol = symbol;
  builder.touch(buffer, builder.position());
  plan::ActionUnion action;
  action.Set(std::move(read));
  builder.addStep(block, std::move(action), location.nodes());
}

/// A name that no symbol of the module has.
static std::string unused(llvm::StringRef stem, const SymbolTable &symbols) {
  std::string name;
  for (unsigned i = 0;; i++)
    if (name = (stem + "#" + llvm::Twine(i)).str(); !symbols.count(name))
      return name;
}

uint32_t ModuleLowering::hostRead(uint32_t buffer, DataType type,
                                  llvm::StringRef stem, uint32_t block,
                                  const Location &location) {
  std::string name = unused(stem, symbols);
  symbols[name].name = name;
  uint32_t symbol = builder.addSymbol(name, plan::Home::DeviceCell);
  builder.cell(name);
  plan::SymbolT &s = *builder.plan().symbols[symbol];
  s.lower = INT64_MIN;
  s.upper = INT64_MAX;
  readAgain(buffer, type, symbol, block, location);
  return symbol;
}

uint32_t ModuleLowering::loopSymbol(llvm::StringRef stem, std::string &name) {
  name = unused(stem, symbols);
  symbols[name].name = name;
  return builder.addSymbol(name, plan::Home::Iteration);
}

llvm::Error ModuleLowering::writeDim(const Dim &d, uint32_t buffer,
                                     uint32_t block, const Location &location) {
  Graph scratch;
  Builder make(scratch);
  make.location = location;
  auto dims = make.create<DimsOp>(llvm::ArrayRef<Dim>(d), true);
  buffers[dims.result()] = buffer;
  llvm::Error error = lowerUnit(*dims.op(), block);
  buffers.erase(dims.result());
  return error;
}

llvm::Error ModuleLowering::lowerRegion(const Graph &region,
                                        llvm::ArrayRef<uint32_t> inputs,
                                        llvm::ArrayRef<uint32_t> results,
                                        uint32_t block) {
  for (unsigned i = 0; i < region.numInputs(); i++)
    buffers[region.input(i)] = inputs[i];
  for (size_t i = 0; i < results.size(); i++)
    assign(region.outputs()[i], results[i]);
  if (llvm::Error e = lowerGraph(region, block))
    return e;
  for (size_t i = 0; i < results.size(); i++) {
    Value *v = region.outputs()[i];
    if (uint32_t b = bufferOf(v); b != results[i])
      copy(b, results[i], v->type().storageBytes(), block, Location());
  }
  return llvm::Error::success();
}

llvm::Error ModuleLowering::lowerIf(const IfOp &op, uint32_t block) {
  uint32_t condition = hostRead(bufferOf(op.condition()), DataType::Bool,
                                "condition", block, op.location());
  llvm::SmallVector<uint32_t, 4> inputs, results;
  for (Value *v : op.inputs())
    inputs.push_back(bufferOf(v));
  for (unsigned i = 0; i < op->numResults(); i++)
    results.push_back(makeBuffer(op.result(i)));
  plan::IfT branch;
  branch.condition = condition;
  branch.results.assign(results.begin(), results.end());
  branch.then_block = builder.addBlock();
  branch.else_block = builder.addBlock();
  plan::ActionUnion action;
  uint32_t thenBlock = branch.then_block, elseBlock = branch.else_block;
  action.Set(std::move(branch));
  for (uint32_t r : results)
    builder.touch(r, builder.position());
  builder.addStep(block, std::move(action), op.location().nodes());
  if (llvm::Error e = lowerRegion(op.thenGraph(), inputs, results, thenBlock))
    return e;
  return lowerRegion(op.elseGraph(), inputs, results, elseBlock);
}

llvm::Error ModuleLowering::lowerLoop(const LoopOp &op, uint32_t block) {
  Graph &body = op.body();
  const Location &location = op.location();
  size_t carried = size_t(op.carried()), inputs = op.inputs().size();
  size_t scans = body.outputs().size() - 1 - carried;
  auto bytesOf = [&](const TensorType &type) {
    return builder.expression(type.storageBytes());
  };
  auto arena = [&](const TensorType &type) {
    return builder.addBuffer(plan::Space::Arena, type.storageBytes(),
                             type.element, "");
  };

  plan::LoopT loop;
  std::string iteration;
  loop.iteration = loopSymbol("iteration", iteration);
  if (op.trips()) {
    std::optional<std::vector<Dim>> known = shapeValue(op.trips());
    if (known && known->size() == 1) {
      loop.trips = builder.expression(known->front());
    } else {
      uint32_t symbol = hostRead(bufferOf(op.trips()), DataType::I64, "trips",
                                 block, location);
      loop.trips =
          builder.expression(Dim::symbol(builder.plan().symbols[symbol]->name));
    }
  }
  if (op.condition())
    loop.condition = hostRead(bufferOf(op.condition()), DataType::Bool,
                              "condition", block, location);

  // The body's values: the iteration's number, true, then what is carried.
  llvm::SmallVector<uint32_t, 8> inside, written;
  uint32_t number = arena(TensorType(DataType::I64, {}));
  inside.push_back(number);
  inside.push_back(builder.weight(Constant::scalar(DataType::Bool, 1), "true"));
  uint32_t condition = arena(TensorType(DataType::Bool, {}));
  written.push_back(condition);
  for (size_t i = 0; i < inputs; i++) {
    Value *v = op.inputs()[i];
    if (i >= carried) {
      inside.push_back(bufferOf(v));
      continue;
    }
    auto c = std::make_unique<plan::CarriedT>();
    c->initial = bufferOf(v);
    c->in = makeBuffer(op.result(i));
    c->out = arena(v->type());
    c->bytes = bytesOf(v->type());
    builder.tie(c->in, c->out);
    inside.push_back(c->in);
    written.push_back(c->out);
    loop.carried.push_back(std::move(c));
  }
  std::string count;
  for (size_t i = 0; i < scans; i++) {
    const TensorType &type = body.outputs()[1 + carried + i]->type();
    auto s = std::make_unique<plan::ScanT>();
    s->from = arena(type);
    s->to = makeBuffer(op.result(carried + i));
    s->bytes = bytesOf(type);
    written.push_back(s->from);
    loop.scans.push_back(std::move(s));
    Dim trips = op.result(carried + i)->type().dim(0);
    if (trips.kind() == Dim::Kind::Symbol &&
        isSizedByDevice({type.element, {trips}}))
      count = trips.symbolName().str();
  }
  std::string counted;
  if (!count.empty())
    loop.count = loopSymbol("count", counted);

  loop.body = builder.addBlock();
  uint32_t bodyBlock = loop.body, conditionSymbol = loop.condition;
  uint32_t first = builder.position();
  llvm::SmallVector<uint32_t, 16> whole(inside.begin(), inside.end());
  whole.append(written);
  for (const auto &c : loop.carried)
    whole.push_back(c->initial);
  for (const auto &s : loop.scans)
    whole.push_back(s->to);
  plan::ActionUnion action;
  action.Set(std::move(loop));
  builder.addStep(block, std::move(action), location.nodes());
  if (llvm::Error e =
          writeDim(Dim::symbol(iteration), number, bodyBlock, location))
    return e;
  if (llvm::Error e = lowerRegion(body, inside, written, bodyBlock))
    return e;
  if (conditionSymbol != kNone)
    readAgain(condition, DataType::Bool, conditionSymbol, bodyBlock, location);

  // What the body reads of the outside is live through all iterations.
  uint32_t last = builder.position();
  for (auto &b : builder.plan().buffers)
    if (b->first < first && b->last >= first)
      b->last = std::max(b->last, last);
  for (uint32_t b : whole) {
    builder.touch(b, first);
    builder.touch(b, last);
  }
  if (!count.empty()) {
    uint32_t cell = builder.cell(count);
    if (llvm::Error e = writeDim(Dim::symbol(counted), cell, block, location))
      return e;
  }
  return llvm::Error::success();
}
