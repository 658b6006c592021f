// SPDX-License-Identifier: Apache-2.0
// A temporary folder that does not outlive its process for long.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>

namespace dlc::codegen {

/// Removed with this object. A process that is killed leaves its folder; the
/// next one that makes a folder of the same prefix removes it. A lock on a file
/// in the folder, which the system lets go with the process, tells whether it
/// is in use.
class ScratchFolder {
public:
  ScratchFolder() = default;
  ScratchFolder(ScratchFolder &&other) { *this = std::move(other); }
  ScratchFolder &operator=(ScratchFolder &&other) {
    std::swap(folder, other.folder);
    std::swap(lock, other.lock);
    return *this;
  }
  ~ScratchFolder();

  /// PREFIX-?????? among the system's temporary files.
  static llvm::Expected<ScratchFolder> create(llvm::StringRef prefix);
  const std::string &path() const { return folder; }

private:
  std::string folder;
  int lock = -1; ///< of this process alone: not inherited by programs it starts
};

} // namespace dlc::codegen
