// SPDX-License-Identifier: Apache-2.0
// Collects the parts of one kernel: parameters, functors, entry point.
#pragma once

#include "codegen/Emitter.h"
#include "codegen/IndexPrinter.h"

namespace dlc::codegen {

/// C++ name of the storage type: "half_t"; of the type that a body computes in:
/// "float".
llvm::StringRef storageName(DataType type);
llvm::StringRef computeName(DataType type);
/// Can a body read and write its elements?
bool isStored(DataType type);
/// Can templates hold its elements in variables, too: compare, multiply?
bool hasDeviceType(DataType type);
/// A literal of the compute type of `type`.
std::string literal(DataType type, double value);
std::string literal(DataType type, const Constant &constant, int64_t i);

class KernelBuilder {
public:
  KernelBuilder(const Unit &unit, const EmitContext &context);
  KernelBuilder(const KernelBuilder &) = delete;

  const Unit &unit() const { return theUnit; }
  const EmitContext &context() const { return theContext; }
  /// Prints sizes of the module's symbols; coordinates are declared on it.
  IndexPrinter &index() { return printer; }

  /// C++ expression of the typed pointer, `in0(p)`.
  std::string input(unsigned i);
  /// The same for an operand of the unit's op: an input of its body, or a
  /// constant in it.
  std::string operand(const Value *value);
  std::string result(unsigned i);
  std::string workspace(unsigned i, DataType element);
  std::string weight(const Constant &constant);
  /// Adds a tensor map; gives its number in p.map.
  unsigned tensorMap(TensorMapRef map);
  /// Do 32 bits count all elements?
  bool isNarrow() const { return narrow; }
  /// Is the memory never written while kernels run?
  bool isWeight(unsigned input) const;

  void include(llvm::StringRef header);
  /// Text before the entry point: functors.
  std::string functors;
  /// A member of the struct that is being printed there:
  /// `static constexpr type name = value;`
  void addConstant(llvm::StringRef type, llvm::StringRef name,
                   const llvm::Twine &value);
  void addFlag(llvm::StringRef name, bool value) {
    addConstant("bool", name, value ? "true" : "false");
  }
  /// `static Index name(const P &p)`.
  void addSize(llvm::StringRef name, const Dim &size);
  /// \param declaration result, name and parameters.
  void addFunction(llvm::StringRef declaration, const llvm::Twine &body);
  /// The same with a parameter `template <int V>`: for V lanes.
  void addLanesFunction(llvm::StringRef declaration, const llvm::Twine &body);
  unsigned threads = 256, minBlocks = 1, smemBytes = 0, cluster = 1;
  bool cooperative = false;

  /// The whole: `body` is what stands in the entry point's braces.
  Launch finish(llvm::StringRef kind, llvm::StringRef types,
                llvm::StringRef config, llvm::StringRef body,
                llvm::ArrayRef<Dim> grid);

  /// Names of the element types of the inputs and results that have been asked
  /// for, "f16f32".
  std::string types() const;

private:
  std::string buffer(BufferRef ref, llvm::StringRef name, DataType element,
                     bool write, llvm::StringRef comment);
  void noteType(const BufferRef &ref, DataType element);
  std::string parameter(llvm::StringRef symbol);
  const Unit &theUnit;
  const EmitContext &theContext;
  Launch launch;
  llvm::SmallVector<std::string, 4> headers, typeNames;
  std::string accessors;
  std::map<std::string, std::string, std::less<>> known;
  std::map<std::string, unsigned> weights;
  IndexPrinter printer;
  bool narrow; ///< counts in 32 bits
};

/// Blocks that a launch can have: where there are more, templates stride.
Dim limitBlocks(const Dim &blocks);

} // namespace dlc::codegen
