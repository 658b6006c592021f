// SPDX-License-Identifier: Apache-2.0
// Typed access to one ONNX node, which notices what was not looked at.
#pragma once

#include "compiler/onnx/ImportContext.h"
#include "llvm/ADT/StringSet.h"

namespace dlc {

class Scope;

/// Importers read inputs and attributes through it. Faults stick: after the
/// first one reads give defaults, and the importer may go on or return, as it
/// likes. An input or attribute that nobody read is an error after the importer
/// has returned: nothing is ignored in silence.
class NodeReader {
public:
  NodeReader(ImportContext &context, Scope &scope, const onnx::NodeProto &node,
             int64_t opset, llvm::ArrayRef<Value *> inputs, Location location);

  ImportContext &context;
  Scope &scope;
  const onnx::NodeProto &proto() const { return node; }
  llvm::StringRef opType() const { return node.op_type(); }
  const Location &location() const { return place; }
  int64_t opset() const { return version; }

  //===--- Inputs
  //-----------------------------------------------------------===//
  unsigned numInputs() const { return unsigned(values.size()); }
  bool hasInput(unsigned i) const { return i < values.size() && values[i]; }
  /// Null where absent. Never null for an input that the operator requires.
  Value *input(unsigned i);
  llvm::ArrayRef<Value *> inputs(); ///< all of them
  /// The value of input `i`, known at import; otherwise an error that says what
  /// it is computed from. `what` names it: "scales".
  std::optional<Constant> constant(unsigned i, llvm::StringRef what);
  std::optional<std::vector<Dim>> dims(unsigned i, llvm::StringRef what);
  std::optional<std::vector<int64_t>> ints(unsigned i, llvm::StringRef what);

  //===--- Attributes
  //-------------------------------------------------------===//
  bool has(llvm::StringRef name) const { return find(name); }
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  int64_t requiredInteger(llvm::StringRef name);
  bool flag(llvm::StringRef name, bool otherwise);
  double real(llvm::StringRef name, double otherwise);
  std::string text(llvm::StringRef name, llvm::StringRef otherwise);
  /// Empty where absent.
  std::vector<int64_t> integers(llvm::StringRef name);
  std::vector<double> reals(llvm::StringRef name);
  std::vector<std::string> texts(llvm::StringRef name);
  const onnx::AttributeProto *
  attribute(llvm::StringRef name, onnx::AttributeProto::AttributeType type);
  /// One of several words; `otherwise` where absent.
  template <class T>
  T choice(llvm::StringRef name, T otherwise,
           std::initializer_list<std::pair<llvm::StringRef, T>> words) {
    if (!has(name))
      return otherwise;
    std::string found = text(name, ""), expected;
    for (const auto &[word, value] : words) {
      if (word == found)
        return value;
      expected += (expected.empty() ? "" : ", ") + word.str();
    }
    error("attribute \"" + name + "\" is \"" + found + "\", supported are " +
          expected);
    return otherwise;
  }
  /// An axis in 0 ... rank-1, or up to `rank` where `mayBeRank`.
  int64_t axis(llvm::StringRef name, int64_t otherwise, int64_t rank,
               bool mayBeRank = false);
  /// Axes, checked, made positive; an error on a repeated one.
  std::vector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank,
                                     llvm::StringRef what);
  int64_t normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef what,
                        bool mayBeRank = false);
  /// The element type of an attribute such as Cast's "to".
  std::optional<DataType> elementType(llvm::StringRef name);

  //===--- Faults and results
  //-----------------------------------------------===//
  void error(const llvm::Twine &message);
  void error(llvm::Error e) { error(llvm::toString(std::move(e))); }
  /// Fails without a message: what is wrong inside has been reported.
  void failSilently() { hasFailed = true; }
  bool failed() const { return hasFailed; }
  bool wantsResult(unsigned i) const {
    return int(i) < node.output_size() && !node.output(int(i)).empty();
  }
  void result(Value *value) { result(0, value); }
  void result(unsigned i, Value *value);
  llvm::ArrayRef<Value *> results() const { return outputs; }
  /// Errors for what was not read.
  void checkAllRead();

private:
  const onnx::AttributeProto *find(llvm::StringRef name) const;
  const onnx::NodeProto &node;
  int64_t version;
  llvm::SmallVector<Value *, 4> values;
  llvm::SmallVector<bool, 4> inputsRead;
  llvm::SmallVector<Value *, 2> outputs;
  std::vector<std::string> asked; // names of attributes, in order
  Location place;
  bool hasFailed = false;
};

} // namespace dlc
