// SPDX-License-Identifier: Apache-2.0
// The system's C++ compiler on emitted kernels.
#pragma once

#include "codegen/Emission.h"
#include "codegen/ScratchFolder.h"
#include "llvm/Support/Error.h"

namespace dlc::codegen {

class HostCompiler {
public:
  /// \param program its name or path, or what CXX holds ("ccache g++ -m64");
  /// empty: c++, else g++, of the PATH.
  static llvm::Expected<HostCompiler> open(llvm::StringRef program);

  const std::string &version() const { return versionText; }
  llvm::ArrayRef<std::string> options() const { return flags; }
  /// An object file. Safe to call from many threads.
  llvm::Expected<std::string> compile(const KernelSource &kernel) const;
  /// One shared object of all objects, in the order given.
  llvm::Expected<std::string> link(llvm::ArrayRef<std::string> objects) const;

private:
  HostCompiler() = default;
  llvm::Error run(llvm::ArrayRef<std::string> arguments,
                  const std::string &log) const;
  std::string program, versionText;
  ScratchFolder scratch;            ///< headers, sources, objects
  std::vector<std::string> leading; ///< behind the program: "ccache g++"
  std::vector<std::string> flags;   ///< of a compilation, those among them
};

} // namespace dlc::codegen
