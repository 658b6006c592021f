// SPDX-License-Identifier: Apache-2.0
// What all parts of one import share.
#pragma once

#include "compiler/Diagnostics.h"
#include "compiler/onnx/KnownValues.h"
#include "compiler/onnx/TensorReader.h"
#include "ir/Builder.h"
#include "llvm/ADT/StringMap.h"

namespace dlc {

struct ImportContext {
  ImportContext(const ModelFile &file, Module &module, Diagnostics &diagnostics)
      : file(file), tensors(file), module(module), known(module.symbols),
        diagnostics(diagnostics) {}

  const ModelFile &file;
  TensorReader tensors;
  Module &module;
  KnownValues known;
  Diagnostics &diagnostics;
  llvm::StringMap<int64_t> opsets; ///< by domain; "" is ai.onnx
  /// Model-local functions by `domain:name`.
  llvm::StringMap<const onnx::FunctionProto *> functions;

  /// Nodes imported so far: functions and loops that are written out could go
  /// on for ever.
  int64_t importedNodes = 0;
  /// Sequences, by the values that stand for them; they hold outer values only.
  llvm::DenseMap<const Value *, std::vector<Value *>> sequences;

  /// A symbol name that is not taken, made from `hint`.
  std::string freshSymbol(llvm::StringRef hint);
  /// One for a count that a kernel finds, between `least` and `most`.
  std::string countSymbol(llvm::StringRef hint, const Dim &most,
                          int64_t least = 0);
};

} // namespace dlc
