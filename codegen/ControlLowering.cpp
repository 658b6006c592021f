// SPDX-License-Identifier: Apache-2.0
// If and loop as nested blocks of steps.
#include "codegen/ModuleLowering.h"

using namespace dlc;
using namespace dlc::codegen;
using plan::kNone;

uint32_t ModuleLowering::hostRead(uint32_t buffer, DataType type,
                                  llvm::StringRef name, uint32_t block,
                                  const Location &location) {
  // A name that no symbol of the module has.
  std::string unique =
      (name + "#" + std::to_string(builder.plan().symbols.size())).str();
  uint32_t symbol = builder.addSymbol(unique, plan::Home::DeviceCell);
  builder.cell(unique);
  plan::SymbolT &s = *builder.plan().symbols[symbol];
  s.lower = INT64_MIN;
  s.upper = INT64_MAX;
  plan::HostReadT read;
  read.buffer = buffer;
  read.type = planType(type);
  read.symbol = symbol;
  builder.touch(buffer, builder.position());
  plan::ActionUnion action;
  action.Set(std::move(read));
  builder.addStep(block, std::move(action), location.nodes());
  return symbol;
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
  return refuse(op.location().str() +
                ": no kernel runs loop yet, expected it to be unrolled");
}
