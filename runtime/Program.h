// SPDX-License-Identifier: Apache-2.0
// A variant of a bundle on a device: its kernels loaded, its weights uploaded.
#pragma once

#include "runtime/bundle/BundleReader.h"
#include "runtime/device/Device.h"

#include <map>
#include <mutex>

namespace dlc {

struct Program {
  size_t variant = 0;
  const plan::PlanT *plan = nullptr;
  std::vector<std::unique_ptr<Module>> modules; ///< by binary; null: not used
  std::vector<void *> functions;                ///< by kernel
  std::vector<uint8_t *> weights;               ///< by weight
};

/// A bundle on a device. Its programs and weights are shared by all sessions;
/// each is loaded when it is first asked for. Any thread may ask.
class DeviceBundle {
public:
  DeviceBundle(std::shared_ptr<const bundle::BundleReader> bundle,
               std::shared_ptr<Device> device)
      : Bundle(std::move(bundle)), Owner(std::move(device)),
        Programs(Bundle->variants()) {}

  const bundle::BundleReader &bundle() const { return *Bundle; }
  Device &device() const { return *Owner; }

  /// Lives as long as this object.
  Status program(size_t variant, const Program *&program);

private:
  Status load(Program &program);
  Status upload(Program &program);

  std::shared_ptr<const bundle::BundleReader> Bundle;
  std::shared_ptr<Device> Owner; // outlives what is loaded into it
  std::mutex Mutex;
  std::vector<DeviceMemory> Memory;
  std::map<std::vector<uint8_t>, uint8_t *> Uploaded; ///< by hash
  std::vector<std::unique_ptr<Program>> Programs;
};

} // namespace dlc
