// SPDX-License-Identifier: Apache-2.0
// Unrolls a recurrence, or writes it as a loop.
#include "compiler/onnx/Recurrence.h"

using namespace dlc;

static constexpr int64_t kUnrolled = 64; // steps

Value *Step::position(bool backwards) {
  if (number)
    return b.dim(backwards ? length - 1 - *number : Dim(*number),
                 DataType::I64);
  return backwards ? b.sub(b.dim(length - 1, DataType::I64), index) : index;
}

Value *Step::at(Value *value, int64_t axis, bool backwards) {
  Value *here = outer(value);
  if (!number)
    return b.emit<GatherOp>(here, position(backwards), axis);
  std::vector<Dim> shape(here->type().shape.begin(), here->type().shape.end());
  shape.erase(shape.begin() + axis);
  Dim start = backwards ? length - 1 - *number : Dim(*number);
  return b.reshape(b.slice(here, axis, start, 1), shape);
}

static std::optional<Values> unroll(NodeReader &n, NodeBuilder &b,
                                    int64_t length, Values states,
                                    StepFunction step) {
  std::vector<Values> collected;
  for (int64_t i = 0; i < length; ++i) {
    Scope scope(n.scope);
    Step current(scope, b, nullptr, i, Dim(length));
    current.states = states;
    auto results = step(current);
    if (!results)
      return std::nullopt;
    states = results->first;
    collected.resize(results->second.size());
    for (size_t j = 0; j < collected.size(); ++j)
      collected[j].push_back(b.unsqueeze(results->second[j], {0}));
  }
  for (const Values &parts : collected)
    states.push_back(b.concat(parts, 0));
  if (n.failed())
    return std::nullopt;
  return states;
}

std::optional<Values> dlc::repeat(NodeReader &n, NodeBuilder &b,
                                  const Dim &length, Values states,
                                  StepFunction step) {
  std::optional<int64_t> fixed = length.tryConstant();
  if (fixed && *fixed > 0 && *fixed <= kUnrolled)
    return unroll(n, b, *fixed, std::move(states), step);
  Value *trips = b.dim(length, DataType::I64);
  if (n.failed())
    return std::nullopt;
  Builder &builder = b.raw();
  Graph &graph = builder.currentGraph();
  Op *op = LoopOp::make(n.location(), trips, nullptr, states,
                        int64_t(states.size()), {});
  graph.insert(graph.end(), op);
  Graph &body = op->region(0);
  Builder inner(body);
  inner.location = n.location();
  Value *index = body.addInput(TensorType(DataType::I64, {}));
  Value *condition = body.addInput(TensorType(DataType::Bool, {}));
  Captures captures;
  Values inside;
  for (Value *state : states)
    inside.push_back(body.addInput(state->type()));
  Scope scope(n.scope, inner, captures);
  NodeBuilder innerBuilder(n, inner);
  Step current(scope, innerBuilder, index, std::nullopt, length);
  current.states = inside;
  auto results = step(current);
  bool good = results && !n.failed();
  llvm::SmallVector<TensorType, 4> types;
  for (size_t i = 0; good && i < states.size(); ++i) {
    types.push_back(states[i]->type());
    if (results->first[i]->type() == types.back())
      continue;
    n.error("state " + llvm::Twine(i) + " goes in as " + types.back().str() +
            " and comes out as " + results->first[i]->type().str() +
            ", expected one type");
    good = false;
  }
  if (good) {
    Values outputs{condition};
    outputs.append(results->first);
    outputs.append(results->second);
    body.setOutputs(outputs);
    for (Value *value : results->second) {
      TensorType type = value->type();
      type.shape.insert(type.shape.begin(), length);
      types.push_back(type);
    }
    llvm::SmallVector<Value *, 8> operands(op->operands());
    operands.append(captures.begin(), captures.end());
    op->setOperands(operands);
    graph.remove(op);
    op->setResultTypes(types);
    graph.insert(graph.end(), op);
    if (llvm::Error e = verifyOp(*op)) {
      n.error(std::move(e));
      good = false;
    }
  }
  if (!good) {
    op->erase();
    n.failSilently();
    return std::nullopt;
  }
  Values all;
  for (unsigned i = 0; i < op->numResults(); ++i)
    all.push_back(op->result(i));
  return all;
}
