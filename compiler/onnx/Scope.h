// SPDX-License-Identifier: Apache-2.0
// The names of one ONNX graph and the values that they stand for.
#pragma once

#include "compiler/onnx/ImportContext.h"

namespace dlc {

/// Values that a region takes from outside, in the order of its inputs. The two
/// branches of an `if` share one list.
using Captures = std::vector<Value *>;

/// Names are looked up here, then among the initialisers, then in the graph
/// around. A scope either writes into the graph of its parent (a branch that is
/// known to be taken, a function that is inlined) or into a region of its own,
/// which sees outer values only as inputs or, when they are known, as copies.
class Scope {
public:
  struct Lookup {
    bool found = false;
    Value *value = nullptr; ///< null though found: its import has failed
  };

  /// The main graph.
  Scope(ImportContext &context, Builder &builder)
      : context(context), builder(builder) {}
  /// A graph whose ops go where those of `parent` go. `isolated`: names of the
  /// parent are not visible (the body of a function).
  Scope(Scope &parent, bool isolated = false)
      : context(parent.context), builder(parent.builder), parent(&parent),
        isolated(isolated), depth(parent.depth + 1) {}
  /// A region: `builder` inserts into its graph. Inputs for captured values are
  /// added behind those that the graph has now.
  Scope(Scope &parent, Builder &builder, Captures &captures)
      : context(parent.context), builder(builder), parent(&parent),
        captures(&captures), firstCapture(builder.currentGraph().numInputs()),
        depth(parent.depth + 1) {}

  Lookup lookup(llvm::StringRef name);
  /// False when the name is taken in this graph.
  bool define(llvm::StringRef name, Value *value) {
    return !initializers.count(name) && values.try_emplace(name, value).second;
  }
  /// Has the name been given in this graph, other than to an initialiser?
  bool isDefined(llvm::StringRef name) const { return values.count(name); }
  bool defineInitializer(const onnx::TensorProto &tensor);
  bool defineInitializer(const onnx::SparseTensorProto &tensor);
  /// An outer value as this scope's graph sees it: an input of its region, or a
  /// copy where the value is known.
  Value *bringIn(Value *outer);

  /// Is what is imported here run only if a condition holds at run time?
  bool isConditional() const {
    return captures || (parent && parent->isConditional());
  }

  ImportContext &context;
  Builder &builder;
  Scope *parent = nullptr;
  bool isolated = false;

private:
  void addMissingInputs(); ///< for what the other branch has captured
  Value *read(llvm::StringRef name);

  struct Initializer {
    const onnx::TensorProto *dense = nullptr;
    const onnx::SparseTensorProto *sparse = nullptr;
  };
  llvm::StringMap<Value *> values;
  llvm::StringMap<Initializer> initializers;
  Captures *captures = nullptr;
  unsigned firstCapture = 0;

public:
  unsigned depth = 0; ///< of graphs in graphs
};

} // namespace dlc
