// SPDX-License-Identifier: Apache-2.0
// States: an output of one run that is an input of the next.
#include "codegen/ModuleLowering.h"

using namespace dlc;
using namespace dlc::codegen;

llvm::Error ModuleLowering::findStates() {
  const Graph &graph = module.main();
  for (const StateBinding &state : options.states) {
    auto bad = [&](const llvm::Twine &what) {
      return refuse("--state " + state.input + "=" + state.output + ": " +
                    what.str());
    };
    unsigned in = 0, out = 0;
    while (in < graph.numInputs() && graph.input(in)->name != state.input)
      in++;
    while (out < graph.outputNames.size() &&
           graph.outputNames[out] != state.output)
      out++;
    if (in == graph.numInputs())
      return bad("the model has no input \"" + state.input + "\"");
    if (out == graph.outputNames.size())
      return bad("the model has no output \"" + state.output + "\"");
    for (const StatePair &other : states)
      if (other.input == in || other.output == out)
        return bad("it is part of another state already");
    const TensorType &from = graph.outputs()[out]->type(),
                     &to = graph.input(in)->type();
    if (from.element != to.element || from.shape != to.shape)
      return bad("the output is " + from.str() + " and the input " + to.str() +
                 ", expected one type");
    states.push_back({in, out});
  }
  // A size that is only a state's is nobody's to give.
  for (const StatePair &state : states)
    for (const Dim &d : graph.input(state.input)->type().shape) {
      std::string missing;
      d.forEachSymbol([&](llvm::StringRef symbol) {
        for (unsigned i = 0; i < graph.numInputs(); i++)
          if (llvm::none_of(states, [&](auto &s) { return s.input == i; }))
            for (const Dim &other : graph.input(i)->type().shape)
              if (other.kind() == Dim::Kind::Symbol &&
                  other.symbolName() == symbol)
                return;
        missing = symbol.str();
      });
      if (!missing.empty()) {
        const std::string &name = graph.input(state.input)->name;
        return refuse(
            "--state " + name + "=" + graph.outputNames[state.output] +
            ": the size \"" + missing + "\" of " +
            graph.input(state.input)->type().str() +
            " is that of no other input; give it by --shape " + name + "=...");
      }
    }
  return llvm::Error::success();
}

void ModuleLowering::keepStates(uint32_t block) {
  const Graph &graph = module.main();
  llvm::SmallVector<uint32_t, 2> from;
  for (const StatePair &state : states) {
    const Value *value = graph.outputs()[state.output];
    const TensorType &type = value->type();
    uint32_t buffer = bufferOf(value);
    // One state may be another's next: neither is overwritten before it is
    // read.
    if (builder.plan().buffers[builder.root(buffer)]->space ==
        plan::Space::State) {
      uint32_t own =
          builder.addBuffer(plan::Space::Arena, type.storageBytes(),
                            type.element, graph.outputNames[state.output]);
      copy(buffer, own, type.storageBytes(), block, Location());
      buffer = own;
    }
    from.push_back(buffer);
  }
  for (auto [i, state] : llvm::enumerate(states)) {
    const Value *input = graph.input(state.input);
    auto variable = std::make_unique<plan::StateVariableT>();
    variable->name = input->name;
    variable->buffer = buffers.lookup(input);
    builder.plan().states.push_back(std::move(variable));
    plan::StateT step;
    step.state = uint32_t(i);
    step.from = from[i];
    for (uint32_t buffer : from)
      builder.touch(buffer, builder.position());
    plan::ActionUnion action;
    action.Set(std::move(step));
    builder.addStep(block, std::move(action), {});
  }
}
