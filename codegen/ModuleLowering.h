// SPDX-License-Identifier: Apache-2.0
// The state of one lowering: values and their buffers.
#pragma once

#include "codegen/Emitter.h"
#include "codegen/PlanBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc::codegen {

/// A tensor and the kernels' results that are written into its memory.
struct Join {
  const Value *result;
  /// Each with its first byte, from the result's: below it where the part of
  /// the result is a slice of it.
  llvm::SmallVector<std::pair<const Value *, Dim>, 4> parts;
  /// The parts are all of the result's bytes, one after the other.
  bool isWhole = true;
};

class ModuleLowering {
public:
  ModuleLowering(const Module &module, const Target &target,
                 const CodegenOptions &options)
      : module(module), target(target), options(options),
        symbols(module.symbols), builder(symbols, target) {}
  llvm::Expected<LoweredModule> run();

private:
  llvm::Error lowerInputs();
  llvm::Error lowerOutputs(llvm::ArrayRef<uint32_t> inPlace, uint32_t block);
  /// Which inputs and outputs are states, in `states`.
  llvm::Error findStates();
  /// Stores what the next run is to find in its states.
  void keepStates(uint32_t block);
  llvm::Error lowerGraph(const Graph &graph, uint32_t block);
  llvm::Error lowerOp(const Op &op, uint32_t block);
  /// Kernels of an emitter.
  llvm::Error lowerUnit(const Op &op, uint32_t block);
  void commit(const Unit &unit, const Emission &emission, uint32_t block);
  /// A fusion that no emitter takes as one: op by op.
  llvm::Error lowerBody(const FusionOp &fusion, uint32_t block);
  /// An attention that no emitter takes: as the ops that it stands for.
  llvm::Error lowerDecomposed(AttentionOp op, uint32_t block);
  llvm::Error lowerIf(const IfOp &op, uint32_t block);
  llvm::Error lowerLoop(const LoopOp &op, uint32_t block);
  /// Lowers a region with its inputs bound; its outputs end up in `results`.
  llvm::Error lowerRegion(const Graph &region, llvm::ArrayRef<uint32_t> inputs,
                          llvm::ArrayRef<uint32_t> results, uint32_t block);

  /// If the view's result lies in its operand's memory: where, in bytes.
  std::optional<Dim> aliasOffset(const Op &op) const;
  /// The buffer of a value that has been computed.
  uint32_t bufferOf(const Value *value);
  /// The buffer that `value`, a result of an op, is to be written to.
  uint32_t makeBuffer(const Value *value);
  /// Lets `value` be written straight into `buffer`, where that is possible.
  bool assign(const Value *value, uint32_t buffer);
  /// Lets the parts of the graph's joins be written where they belong, where
  /// their layouts allow it.
  void placeJoins(const Graph &graph);
  std::optional<Join> findJoin(const Op &joining) const;
  /// Memory for the join and its parts.
  void makeJoin(const Join &join);
  void addPart(uint32_t memory, const Value *value, const Dim &byte);
  void copy(uint32_t from, uint32_t to, const Dim &bytes, uint32_t block,
            const Location &location);
  bool isSizedByDevice(const TensorType &type) const;
  /// A kernel that writes `d` as an i64 into `buffer`.
  llvm::Error writeDim(const Dim &d, uint32_t buffer, uint32_t block,
                       const Location &location);
  /// A symbol that the runner of a loop sets.
  uint32_t loopSymbol(llvm::StringRef stem, std::string &name);
  /// A symbol that a HostRead of `buffer` sets.
  uint32_t hostRead(uint32_t buffer, DataType type, llvm::StringRef stem,
                    uint32_t block, const Location &location);
  void readAgain(uint32_t buffer, DataType type, uint32_t symbol,
                 uint32_t block, const Location &location);

  const Module &module;
  const Target &target;
  const CodegenOptions &options;
  SymbolTable symbols; ///< the module's, and those of loops
  PlanBuilder builder;
  llvm::DenseMap<const Value *, uint32_t> buffers;
  /// Of a part and of the result; their memory is made for the first of them.
  llvm::DenseMap<const Value *, std::shared_ptr<Join>> joins;
  llvm::DenseSet<const Op *> placed; ///< joins that need no kernel
  std::vector<std::unique_ptr<Graph>> decomposed; ///< `buffers` has its values
  /// Of the graph: an input and the output that it is in the next run.
  struct StatePair {
    unsigned input, output;
  };
  llvm::SmallVector<StatePair, 2> states;
};

} // namespace dlc::codegen
