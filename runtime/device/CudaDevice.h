// SPDX-License-Identifier: Apache-2.0
// A CUDA GPU through a driver that is given; openCudaDevice of Device.h opens
// the machine's own.
#pragma once

#include "runtime/device/CudaDriver.h"
#include "runtime/device/Device.h"

namespace dlc {

/// A GPU by its number, shared with nobody. The driver outlives it.
Status openCudaDevice(const cuda::Driver &driver, int index,
                      std::shared_ptr<Device> &device);

} // namespace dlc
