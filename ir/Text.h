// SPDX-License-Identifier: Apache-2.0
// The text form of modules. One generic syntax for all ops; docs/ir.md has the
// grammar. What print writes, parse reads back to an equal module.
#pragma once

#include "ir/Ops.h"

namespace dlc {

struct PrintOptions {
  /// Constants of up to so many elements are printed as numbers, larger ones as
  /// bytes in hexadecimal.
  int64_t literalElements = 16;
  /// Constants of more elements than this print as `dense<...>`, which parse
  /// refuses. Nothing: never.
  std::optional<int64_t> elideAbove;
  bool locations = true;
};

void print(const Module &module, llvm::raw_ostream &os,
           const PrintOptions &options = {});
std::string print(const Module &module, const PrintOptions &options = {});

/// Reads a module. An error begins `file:line:column: error:` and shows the
/// line. The module is well formed but not verified; its ops know their line.
llvm::Expected<std::unique_ptr<Module>> parse(llvm::StringRef text,
                                              llvm::StringRef fileName);

} // namespace dlc
