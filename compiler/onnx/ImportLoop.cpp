// SPDX-License-Identifier: Apache-2.0
// Loop: written out where it is known to be short, else as a region.
#include "compiler/onnx/ControlParts.h"
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

namespace {

/// What a Loop node says.
struct LoopParts {
  const onnx::GraphProto *body = nullptr;
  Value *trips = nullptr, *condition = nullptr;
  llvm::SmallVector<Value *, 4> carried;
  std::optional<int64_t> knownTrips;
  std::optional<Dim> bound; ///< at most as many, of sizes that the host knows
  std::optional<bool> knownCondition;
  size_t scans = 0;
};

} // namespace

static constexpr int64_t kUnrolled = 256; // iterations
static constexpr int64_t kUnrolledNodes = 20000;

/// Is it the scalar true, stored in either way?
static bool isTrue(const onnx::TensorProto &tensor) {
  return tensor.raw_data() == std::string(1, '\1') ||
         (tensor.int32_data_size() == 1 && tensor.int32_data(0));
}

/// Does the body hand its condition on, or say true?
static bool conditionStays(const onnx::GraphProto &body) {
  const std::string &in = body.input(1).name();
  std::string out = body.output(0).name();
  for (int hops = 0; hops < 8; ++hops) {
    if (out == in)
      return true;
    const onnx::NodeProto *producer = nullptr;
    for (const onnx::NodeProto &node : body.node())
      for (const std::string &output : node.output())
        if (output == out)
          producer = &node;
    if (!producer) {
      for (const onnx::TensorProto &tensor : body.initializer())
        if (tensor.name() == out)
          return isTrue(tensor);
      return false;
    }
    if (producer->op_type() == "Constant" && producer->attribute_size() == 1)
      return isTrue(producer->attribute(0).t());
    if ((producer->op_type() != "Identity" && producer->op_type() != "Cast") ||
        producer->input_size() != 1)
      return false;
    out = producer->input(0);
  }
  return false;
}

/// The body once per trip, in place: the number of trips is known.
static void unroll(NodeReader &n, NodeBuilder &b, const LoopParts &parts) {
  llvm::SmallVector<Value *, 4> carried = parts.carried;
  std::vector<llvm::SmallVector<Value *, 8>> scans(parts.scans);
  for (int64_t trip = 0; trip < *parts.knownTrips; ++trip) {
    Scope scope(n.scope);
    scope.define(parts.body->input(0).name(), b.dim(Dim(trip), DataType::I64));
    scope.define(parts.body->input(1).name(), b.scalar(DataType::Bool, 1));
    for (size_t i = 0; i < carried.size(); ++i)
      scope.define(parts.body->input(int(i) + 2).name(), carried[i]);
    llvm::SmallVector<Value *, 4> values = importGraph(*parts.body, scope);
    if (!complete(values))
      return n.failSilently();
    for (size_t i = 0; i < carried.size(); ++i)
      carried[i] = values[i + 1];
    for (size_t i = 0; i < scans.size(); ++i)
      scans[i].push_back(b.unsqueeze(values[i + 1 + carried.size()], {0}));
  }
  n.scope.builder.location = n.location();
  for (unsigned i = 0; i < carried.size(); ++i)
    n.result(i, carried[i]);
  for (unsigned i = 0; i < scans.size(); ++i) {
    if (scans[i].empty())
      return n.error("runs no iteration, and the type of its output " +
                     llvm::Twine(carried.size() + i) + " cannot be told");
    n.result(unsigned(carried.size()) + i, b.concat(scans[i], 0));
  }
}

/// A `loop` with the body as its region.
static void region(NodeReader &n, NodeBuilder &b, LoopParts &parts) {
  Builder &builder = b.raw();
  Graph &graph = builder.currentGraph();
  Op *op = LoopOp::make(n.location(), parts.trips, parts.condition,
                        parts.carried, int64_t(parts.carried.size()), {});
  graph.insert(graph.end(), op);
  Graph &body = op->region(0);
  Builder inner(body);
  body.addInput(TensorType(DataType::I64, {}));
  body.addInput(TensorType(DataType::Bool, {}));
  for (Value *value : parts.carried)
    body.addInput(value->type());
  Captures captures;
  Scope scope(n.scope, inner, captures);
  for (int i = 0; i < parts.body->input_size(); ++i)
    scope.define(parts.body->input(i).name(), body.input(unsigned(i)));
  llvm::SmallVector<Value *, 4> values = importGraph(*parts.body, scope);
  body.setOutputs(values);
  bool good = complete(values) && areTensors(n, values);
  llvm::SmallVector<TensorType, 4> types;
  for (size_t i = 0; good && i < parts.carried.size(); ++i) {
    const TensorType &before = parts.carried[i]->type(),
                     &after = values[i + 1]->type();
    if (before != after) {
      n.error("the carried value " + llvm::Twine(i) + " goes in as " +
              before.str() + " and comes out as " + after.str() +
              ", expected one type");
      good = false;
    }
    types.push_back(before);
  }
  if (good && parts.scans) {
    // Trips are counted while it runs, unless nothing can end it early.
    Dim count;
    if (parts.bound && parts.knownCondition == true &&
        conditionStays(*parts.body)) {
      count = *parts.bound;
    } else {
      std::string name = n.context.freshSymbol(
          n.proto().output(int(parts.carried.size())) + "_count");
      Symbol &symbol = n.context.module.symbols.find(name)->second;
      symbol.home = SymbolHome::DeviceCell;
      symbol.lower = 0;
      if (parts.bound)
        symbol.bound = hostBound(*parts.bound, n.context.module.symbols);
      if (symbol.bound)
        symbol.upper = upperBound(*symbol.bound, n.context.module.symbols);
      if (!symbol.bound) {
        n.error("the number of its iterations has no bound that shapes give, "
                "which its scan outputs need" +
                (parts.trips ? ": " + n.context.known.whyUnknown(parts.trips)
                             : std::string(": it has no trip count")));
        good = false;
      }
      count = Dim::symbol(name);
    }
    for (size_t i = 0; good && i < parts.scans; ++i) {
      TensorType type = values[i + 1 + parts.carried.size()]->type();
      type.shape.insert(type.shape.begin(), count);
      types.push_back(type);
    }
  }
  if (!good) {
    op->erase();
    return n.failSilently();
  }
  llvm::SmallVector<Value *, 8> operands(op->operands());
  operands.append(captures.begin(), captures.end());
  op->setOperands(operands);
  if (finishRegions(n, builder, op, types))
    for (unsigned i = 0; i < types.size(); ++i)
      n.result(i, op->result(i));
}

void importLoop(NodeReader &n, NodeBuilder &b) {
  LoopParts parts;
  parts.body = graphAttribute(n, "body");
  if (n.failed())
    return;
  if (n.hasInput(0)) {
    parts.trips = b.cast(b.reshape(n.input(0), {}), DataType::I64);
    if (std::optional<std::vector<int64_t>> known =
            n.context.known.ints(n.input(0)))
      parts.knownTrips =
          known->empty() ? 0 : std::max<int64_t>(0, known->front());
    std::optional<std::vector<Dim>> most = n.context.known.dims(n.input(0));
    if (most && most->size() == 1)
      parts.bound = n.context.known.atLeast(most->front(), 0);
  }
  parts.knownCondition = true;
  if (n.hasInput(1)) {
    parts.condition = b.reshape(n.input(1), {});
    std::optional<Constant> known = n.context.known.constant(n.input(1));
    parts.knownCondition =
        known ? std::optional(known->intAt(0) != 0) : std::nullopt;
  }
  for (unsigned i = 2; i < n.numInputs(); ++i) {
    if (!n.hasInput(i))
      return n.error("the carried value " + llvm::Twine(i - 2) + " is missing");
    parts.carried.push_back(n.input(i));
  }
  if (n.failed())
    return;
  size_t carried = parts.carried.size();
  if (size_t(parts.body->input_size()) != carried + 2 ||
      size_t(parts.body->output_size()) < carried + 1 ||
      n.results().size() > size_t(parts.body->output_size()) - 1)
    return n.error("its body has " + llvm::Twine(parts.body->input_size()) +
                   " inputs and " + llvm::Twine(parts.body->output_size()) +
                   " outputs, which does not fit " + llvm::Twine(carried) +
                   " carried values and " + llvm::Twine(n.results().size()) +
                   " outputs");
  parts.scans = size_t(parts.body->output_size()) - 1 - carried;
  if (parts.knownCondition == false)
    parts.knownTrips = 0;
  bool counted = parts.knownTrips && parts.knownCondition &&
                 (*parts.knownTrips == 0 || conditionStays(*parts.body));
  if (counted && *parts.knownTrips <= kUnrolled &&
      *parts.knownTrips * std::max(1, parts.body->node_size()) <=
          kUnrolledNodes)
    return unroll(n, b, parts);
  region(n, b, parts);
}

} // namespace dlc
