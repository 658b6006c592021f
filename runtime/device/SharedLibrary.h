// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened at run time.
#pragma once

#include <string>
#include <utility>

namespace dlc {

class SharedLibrary {
public:
  SharedLibrary() = default;
  SharedLibrary(const SharedLibrary &) = delete;
  SharedLibrary &operator=(const SharedLibrary &) = delete;
  SharedLibrary(SharedLibrary &&other) noexcept
      : Handle(std::exchange(other.Handle, nullptr)) {}
  SharedLibrary &operator=(SharedLibrary &&other) noexcept {
    std::swap(Handle, other.Handle);
    return *this;
  }
  ~SharedLibrary();

  /// False, with the loader's sentence, when there is no such library.
  bool open(const std::string &path, std::string &error);
  /// Null when the library exports no such thing.
  void *find(const char *symbol) const;
  template <class Function>
  bool find(const char *symbol, Function &function) const {
    function = reinterpret_cast<Function>(find(symbol));
    return function != nullptr;
  }
  explicit operator bool() const { return Handle != nullptr; }
  /// Leaves it loaded for the rest of the process.
  void keep() { Handle = nullptr; }

private:
  void *Handle = nullptr;
};

/// The folder that holds the runtime itself, with a slash at its end; "" when
/// the loader does not know.
std::string runtimeFolder();

} // namespace dlc
