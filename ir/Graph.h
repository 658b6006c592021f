// SPDX-License-Identifier: Apache-2.0
// The dataflow graph: values, ops, graphs, modules.
#pragma once

#include "ir/Attribute.h"
#include "ir/Check.h"
#include "ir/Constraint.h"
#include "ir/Location.h"
#include "ir/OpKinds.h"
#include "llvm/ADT/ilist.h"
#include "llvm/ADT/ilist_node.h"
#include "llvm/Support/Casting.h"

namespace dlc {

class Op;
class Graph;
class Module;

/// One use of a value as operand `index` of `op`.
struct Use {
  Op *op;
  unsigned index;
  friend bool operator==(const Use &, const Use &) = default;
};

/// A result of an op, or an input of a graph.
class Value {
public:
  const TensorType &type() const { return valueType; }
  /// Only through Rewriter once the op is in a graph.
  void setType(TensorType type) { valueType = std::move(type); }
  Op *definingOp() const { return op; } ///< null for a graph input
  /// The defining op as a `T`, or a null `T`.
  template <class T> T definingOp() const {
    return llvm::dyn_cast_if_present<T>(op);
  }
  Graph *inputOf() const { return graph; }    ///< null for a result
  unsigned index() const { return position; } ///< of the result or input
  llvm::ArrayRef<Use> uses() const { return useList; }
  bool hasOneUse() const { return useList.size() == 1 && !isOutput(); }
  /// Is it an output of the graph it lives in?
  bool isOutput() const;
  /// The name in text and of inputs; may be empty.
  std::string name;

private:
  friend class Op;
  friend class Graph;
  TensorType valueType;
  Op *op = nullptr;
  Graph *graph = nullptr;
  unsigned position = 0;
  llvm::SmallVector<Use, 2> useList;
};

/// An operation. Operands may be null (an absent optional operand).
class Op : public llvm::ilist_node<Op> {
public:
  ~Op();
  OpKind kind() const { return opKind; }
  llvm::StringRef mnemonic() const;
  const Location &location() const { return loc; }
  void setLocation(Location l) { loc = std::move(l); }

  unsigned numOperands() const { return unsigned(operandList.size()); }
  Value *operand(unsigned i) const {
    return i < operandList.size() ? operandList[i] : nullptr;
  }
  llvm::ArrayRef<Value *> operands() const { return operandList; }
  void setOperand(unsigned i, Value *value);
  void setOperands(llvm::ArrayRef<Value *> values);

  unsigned numResults() const { return unsigned(resultList.size()); }
  Value *result(unsigned i = 0) const { return resultList[i].get(); }

  unsigned numAttributes() const { return unsigned(attributeList.size()); }
  const Attribute &attribute(unsigned i) const { return attributeList[i]; }
  /// A value that equals the record's default is stored as an empty attribute.
  void setAttribute(unsigned i, Attribute a);

  unsigned numRegions() const { return unsigned(regionList.size()); }
  Graph &region(unsigned i) const { return *regionList[i]; }

  /// The graph that holds it; null while detached.
  Graph *parent() const { return parentGraph; }
  bool isBefore(const Op *other) const; ///< in the same graph
  bool hasTrait(OpTrait trait) const { return dlc::hasTrait(opKind, trait); }
  bool isUnused() const;

  /// A detached op; results get `resultTypes`, regions are empty graphs.
  static Op *create(OpKind kind, llvm::ArrayRef<Value *> operands,
                    std::vector<Attribute> attributes,
                    llvm::ArrayRef<TensorType> resultTypes, Location loc,
                    unsigned regions = 0);
  /// After type inference; results that go away must be unused.
  void setResultTypes(llvm::ArrayRef<TensorType> types);
  /// A detached copy with the operands that `map` gives; regions are deep.
  Op *clone(llvm::function_ref<Value *(Value *)> map) const;
  /// Removes the op from its graph and frees it. It must have no uses.
  void erase();
  void print(llvm::raw_ostream &os) const;

private:
  friend class Graph;
  explicit Op(OpKind kind);
  OpKind opKind;
  Location loc;
  llvm::SmallVector<Value *, 4> operandList;
  std::vector<std::unique_ptr<Value>> resultList;
  std::vector<Attribute> attributeList;
  std::vector<std::unique_ptr<Graph>> regionList;
  Graph *parentGraph = nullptr;
  mutable uint64_t order = 0; // for isBefore; 0: the graph has to be renumbered
};

/// A typed view of an op: what dlc-tblgen derives a class per record from.
class OpView {
public:
  OpView() = default;
  OpView(Op *op) : operation(op) {}
  Op *op() const { return operation; }
  Op *operator->() const { return operation; }
  explicit operator bool() const { return operation != nullptr; }
  Value *result(unsigned i = 0) const { return operation->result(i); }
  const Location &location() const { return operation->location(); }

protected:
  // Attributes: `Stored` is the member of Attribute that holds a `T`.
  template <class T, class Stored>
  static std::optional<T> optionalAttribute(const Attribute &a) {
    if (const Stored *value = std::get_if<Stored>(&a))
      return static_cast<T>(*value);
    return std::nullopt;
  }
  template <class T, class Stored>
  static T valueAttribute(const Attribute &a, T otherwise) {
    const Stored *value = std::get_if<Stored>(&a);
    return value ? static_cast<T>(*value) : otherwise;
  }
  template <class T>
  static const T &attributeOr(const Attribute &a, const T &otherwise) {
    const T *value = std::get_if<T>(&a);
    return value ? *value : otherwise;
  }

  Op *operation = nullptr;
};

/// Ops in topological order, inputs and outputs.
class Graph {
public:
  using OpList = llvm::ilist<Op>;
  Graph() = default;
  ~Graph();
  Graph(const Graph &) = delete;

  std::string name;
  OpList &ops() { return opList; }
  const OpList &ops() const { return opList; }
  OpList::iterator begin() { return opList.begin(); }
  OpList::iterator end() { return opList.end(); }

  unsigned numInputs() const { return unsigned(inputList.size()); }
  Value *input(unsigned i) const { return inputList[i].get(); }
  Value *addInput(TensorType type, std::string name = "");

  llvm::ArrayRef<Value *> outputs() const { return outputList; }
  void setOutputs(llvm::ArrayRef<Value *> values) {
    outputList.assign(values.begin(), values.end());
  }
  void setOutput(unsigned i, Value *value) { outputList[i] = value; }
  void addOutput(Value *value) { outputList.push_back(value); }
  /// Names of the outputs, parallel to outputs(); empty for bodies.
  std::vector<std::string> outputNames;

  /// The op whose region this is; null for a module's graph.
  Op *parentOp() const { return owner; }
  Module *module() const;
  void insert(OpList::iterator before, Op *op);
  /// Takes the op out without freeing it.
  void remove(Op *op);
  /// All uses of `from`, outputs included, become uses of `to`.
  void replaceAllUses(Value *from, Value *to);
  /// Copies `other` into this empty graph (deep).
  void cloneFrom(const Graph &other);

private:
  friend class Op;
  friend class Module;
  void renumber() const;
  OpList opList;
  std::vector<std::unique_ptr<Value>> inputList;
  llvm::SmallVector<Value *, 2> outputList;
  Op *owner = nullptr;
  Module *parentModule = nullptr;
};

/// A whole model: one main graph and the symbols that its types use.
class Module {
public:
  Module();
  Graph &main() { return *mainGraph; }
  const Graph &main() const { return *mainGraph; }
  SymbolTable symbols;
  ConstraintList constraints; ///< of the symbols, which the graph relies on
  std::string name;
  /// A deep copy; constants are shared.
  std::unique_ptr<Module> clone() const;
  void print(llvm::raw_ostream &os) const;

private:
  std::unique_ptr<Graph> mainGraph;
};

} // namespace dlc

// isa / cast / dyn_cast of the generated op classes over Op *.
namespace llvm {
template <class To>
struct CastInfo<To, dlc::Op *,
                std::enable_if_t<std::is_base_of_v<dlc::OpView, To>>> {
  static bool isPossible(dlc::Op *op) { return op && op->kind() == To::opKind; }
  static To doCast(dlc::Op *op) { return To(op); }
  static To castFailed() { return To(); }
  static To doCastIfPossible(dlc::Op *op) {
    return isPossible(op) ? To(op) : To();
  }
};
template <class To>
struct CastInfo<To, const dlc::Op *,
                std::enable_if_t<std::is_base_of_v<dlc::OpView, To>>>
    : CastInfo<To, dlc::Op *> {
  static bool isPossible(const dlc::Op *op) {
    return op && op->kind() == To::opKind;
  }
  static To doCast(const dlc::Op *op) { return To(const_cast<dlc::Op *>(op)); }
  static To doCastIfPossible(const dlc::Op *op) {
    return isPossible(op) ? doCast(op) : To();
  }
};
} // namespace llvm
