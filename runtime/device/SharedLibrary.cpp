// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened at run time.
#include "runtime/device/SharedLibrary.h"

#include <dlfcn.h>

using namespace dlc;

SharedLibrary::~SharedLibrary() {
  if (Handle)
    dlclose(Handle);
}

bool SharedLibrary::open(const std::string &path, std::string &error) {
  Handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (Handle)
    return true;
  const char *text = dlerror();
  error = text ? text : "unknown error";
  return false;
}

void *SharedLibrary::find(const char *symbol) const {
  return dlsym(Handle, symbol);
}

std::string dlc::runtimeFolder() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<void *>(&runtimeFolder), &info) ||
      !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}
