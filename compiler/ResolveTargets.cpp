// SPDX-License-Identifier: Apache-2.0
// Which targets a build is for.
#include "compiler/Compiler.h"
#include <dlfcn.h>

namespace dlc {

/// The architecture of the first GPU that the driver knows, "sm_90a", or "".
static std::string localGpu() {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver)
    return "";
  using Init = int (*)(unsigned);
  using DeviceGet = int (*)(int *, int);
  using Attribute = int (*)(int *, int, int);
  auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  auto get = reinterpret_cast<DeviceGet>(dlsym(driver, "cuDeviceGet"));
  auto attribute =
      reinterpret_cast<Attribute>(dlsym(driver, "cuDeviceGetAttribute"));
  // Numbers of CUdevice_attribute in cuda.h.
  constexpr int kMajor = 75, kMinor = 76;
  int device = 0, major = 0, minor = 0;
  if (!init || !get || !attribute || init(0) || get(&device, 0) ||
      attribute(&major, kMajor, device) || attribute(&minor, kMinor, device))
    return "";
  std::string name = "sm_" + std::to_string(major * 10 + minor);
  // The names with the features of just that architecture, where there are
  // such.
  for (const std::string &known : Target::names())
    if (known == name + "a")
      return known;
  return name;
}

llvm::Expected<std::vector<Target>>
resolveTargets(llvm::ArrayRef<std::string> names) {
  std::vector<std::string> wanted;
  for (const std::string &name : names) {
    if (name != "auto") {
      wanted.push_back(name);
      continue;
    }
    std::string gpu = localGpu();
    // A GPU newer than this compiler runs the portable variant.
    wanted.push_back(gpu.empty() || llvm::is_contained(Target::names(), gpu)
                         ? (gpu.empty() ? "sm_90a" : gpu)
                         : "portable");
  }
  if (names.empty())
    return resolveTargets({"auto", "portable"});
  std::vector<Target> targets;
  for (const std::string &name : wanted) {
    llvm::Expected<Target> t = Target::parse(name);
    if (!t)
      return t.takeError();
    if (llvm::none_of(targets,
                      [&](const Target &o) { return o.name == t->name; }))
      targets.push_back(std::move(*t));
  }
  return targets;
}

} // namespace dlc
