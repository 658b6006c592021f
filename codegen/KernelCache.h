// SPDX-License-Identifier: Apache-2.0
// A folder of compiled kernels, addressed by what they were made from.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace dlc::codegen {

/// Safe to share between threads and processes: entries appear whole, and one
/// that does not match its checksum counts as absent. Failures to write are
/// silent, since a cache may always be empty.
class KernelCache {
public:
  /// \param folder is made when it is needed; empty: no cache.
  /// \param limitBytes what trim() leaves at most.
  explicit KernelCache(std::string folder, int64_t limitBytes = 2LL << 30);
  static std::string key(llvm::ArrayRef<llvm::StringRef> parts);
  std::optional<std::string> load(llvm::StringRef key) const;
  void store(llvm::StringRef key, llvm::StringRef bytes) const;
  /// Removes the entries that were not used for the longest time.
  void trim() const;

private:
  std::string path(llvm::StringRef key) const;
  std::string folder;
  int64_t limitBytes;
};

} // namespace dlc::codegen
