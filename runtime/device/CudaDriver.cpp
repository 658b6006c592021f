// SPDX-License-Identifier: Apache-2.0
// Opens the CUDA driver.
#include "runtime/device/CudaDriver.h"

#include "runtime/device/SharedLibrary.h"

using namespace dlc;
using namespace dlc::cuda;

std::string dlc::cuda::versionText(int version) {
  return say(version / 1000, ".", version % 1000 / 10);
}

Status Driver::check(Result result, std::string_view call) const {
  if (result == kSuccess)
    return Status();
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return Status(
      result == kOutOfMemory ? DLC_OUT_OF_MEMORY : DLC_DEVICE_ERROR,
      say(call, " failed: ", name ? std::string(name) : say("error ", result),
          text ? say(" (", text, ")") : ""));
}

static Status open(Driver &driver) {
  SharedLibrary library;
  std::string error;
  if (!library.open("libcuda.so.1", error))
    return Status(
        DLC_NO_DEVICE,
        say("no GPU: the NVIDIA driver is not installed (", error, ")"));
  Result (*init)(unsigned) = nullptr;
  Result (*version)(int *) = nullptr;
  if (!library.find("cuInit", init) ||
      !library.find("cuDriverGetVersion", version))
    return Status(DLC_NO_DEVICE, "no GPU: libcuda.so.1 is not a CUDA driver");
  // The driver does not come back from being unloaded.
  version(&driver.version);
  const char *missing = nullptr;
#define DLC_CUDA_FIND(member, symbol, arguments)                               \
  if (!library.find(#symbol, driver.member) && !missing)                       \
    missing = #symbol;
  DLC_CUDA_FUNCTIONS(DLC_CUDA_FIND)
#undef DLC_CUDA_FIND
#define DLC_CUDA_FIND(member, symbol, arguments)                               \
  library.find(#symbol, driver.member);
  DLC_CUDA_OPTIONAL(DLC_CUDA_FIND)
#undef DLC_CUDA_FIND
  library.keep();
  if (missing)
    return Status(DLC_DRIVER_TOO_OLD,
                  say("the NVIDIA driver is too old: it is for CUDA ",
                      versionText(driver.version), " and lacks ", missing,
                      ", expected a driver for CUDA 12.0 or newer"));
  Result result = init(0);
  if (result == kNoDevice)
    return Status(DLC_NO_DEVICE,
                  "no GPU: the NVIDIA driver finds none in this machine");
  if (result != kSuccess)
    return Status(DLC_NO_DEVICE,
                  say("no GPU: ", driver.check(result, "cuInit").sentence()));
  return Status();
}

Status dlc::cuda::openDriver(const Driver *&driver) {
  static Driver opened;
  static const Status status = open(opened);
  driver = &opened;
  return status;
}
