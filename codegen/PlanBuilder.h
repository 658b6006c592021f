// SPDX-License-Identifier: Apache-2.0
// Builds the plan: expressions, symbols, buffers, kernels and steps.
#pragma once

#include "codegen/Lowering.h"
#include "runtime/plan/Expression.h"
#include <set>

namespace dlc::codegen {

plan::ElementType planType(DataType type);

class PlanBuilder {
public:
  PlanBuilder(const SymbolTable &symbols, const Target &target);

  plan::PlanT &plan() { return *result.plan; }

  //===--- Expressions and symbols ----------------------------------------===//
  /// Declares the module's symbols: sizes of inputs first. Expressions may be
  /// asked for afterwards. `states`: the graph's inputs that callers do not
  /// give.
  llvm::Error declareSymbols(const Graph &graph,
                             llvm::ArrayRef<unsigned> states = {});
  uint32_t expression(const Dim &d);
  /// Shapes for which `d` exceeds `most` are refused with the sentence.
  void require(const Dim &d, int64_t most, llvm::StringRef sentence);
  /// What the runtime has to check of the sizes of inputs.
  llvm::Error addConstraints(const ConstraintList &constraints);
  uint32_t symbolIndex(llvm::StringRef name) const;
  uint32_t addSymbol(llvm::StringRef name, plan::Home home);

  //===--- Buffers --------------------------------------------------------===//
  uint32_t addBuffer(plan::Space space, const Dim &bytes, DataType type,
                     llvm::StringRef name);
  uint32_t addAlias(uint32_t of, const Dim &byteOffset, const Dim &bytes,
                    DataType type, llvm::StringRef name);
  /// The buffer of a constant: one for equal content.
  uint32_t weight(const Constant &constant, llvm::StringRef name);
  /// The outermost buffer that `buffer` lies in.
  uint32_t root(uint32_t buffer) const;
  /// Says that the step at `position` reads or writes the buffer.
  void touch(uint32_t buffer, uint32_t position);
  /// Says that two buffers may exchange their memory: both live as long as one
  /// of them does.
  void tie(uint32_t a, uint32_t b) { tied.emplace_back(a, b); }
  /// The buffer behind the cell of a symbol whose home is the device.
  uint32_t cell(llvm::StringRef symbol);

  //===--- Steps ----------------------------------------------------------===//
  uint32_t addBlock();
  /// The next position in the numbering of all steps.
  uint32_t position() const { return next; }
  /// Appends to the block; buffers must have been touched.
  void addStep(uint32_t block, plan::ActionUnion action,
               llvm::ArrayRef<std::string> nodes);
  uint32_t kernel(const KernelSource &source,
                  llvm::ArrayRef<std::string> nodes);

  /// Its number in the plan.
  uint32_t tensorMap(const TensorMapRef &map);

  void report(std::string line) { result.report.push_back(std::move(line)); }
  LoweredModule finish();

private:
  const SymbolTable &symbols;
  const Target &target;
  LoweredModule result;
  plan::ExpressionPool pool;
  std::map<std::string, uint32_t, std::less<>> symbolIndices;
  std::map<std::string, uint32_t, std::less<>> kernelIndices;
  std::vector<std::vector<std::string>> kernelNodes;
  std::multimap<uint64_t, std::pair<Constant, uint32_t>> weightBuffers;
  std::vector<std::pair<uint32_t, uint32_t>> tied;
  std::set<std::pair<uint32_t, uint32_t>> required;
  uint32_t next = 0;
};

} // namespace dlc::codegen
