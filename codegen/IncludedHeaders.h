// SPDX-License-Identifier: Apache-2.0
// Which device headers a source includes, itself and through other headers.
#pragma once

#include "codegen/device/DeviceHeaders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dlc::codegen {

/// The graph of who includes whom. It errs on the side of too much: both
/// branches of each `#if` count, comments too, a name is looked for beside the
/// file that includes it and among all headers, and a name that is a macro
/// stands for every header. Safe to ask from many threads.
class IncludedHeaders {
public:
  explicit IncludedHeaders(llvm::ArrayRef<DeviceHeader> headers);
  /// The graph of deviceHeaders().
  static const IncludedHeaders &ofDevice();

  /// In the order in which all of them are.
  std::vector<const DeviceHeader *> of(llvm::StringRef source) const;
  /// Changes with each name and each text of of(source), and with nothing else.
  std::string key(llvm::StringRef source) const;

private:
  /// Positions of the headers that `text`, a file of `folder`, names.
  std::vector<size_t> named(llvm::StringRef text, llvm::StringRef folder) const;
  /// Positions of all that it includes, in order.
  std::vector<size_t> closure(llvm::StringRef source) const;

  llvm::ArrayRef<DeviceHeader> headers;
  llvm::StringMap<size_t> positions;
  std::vector<std::vector<size_t>> direct; ///< what each header names
  std::vector<std::string> digests;        ///< of each header
};

} // namespace dlc::codegen
