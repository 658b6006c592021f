// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened at run time.
#include "runtime/device/SharedLibrary.h"

#include <climits>
#include <cstdlib>
#include <cstring>
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
  // Of a program that was found on PATH the loader knows no more than its name.
  const char *name =
      strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
  char resolved[PATH_MAX];
  if (!realpath(name, resolved))
    return "";
  std::string path = resolved;
  return path.substr(0, path.rfind('/') + 1);
}
