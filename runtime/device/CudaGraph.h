// SPDX-License-Identifier: Apache-2.0
// A recorded CUDA graph, ready for replay.
#pragma once

#include "runtime/device/CudaDriver.h"
#include "runtime/device/Device.h"

namespace dlc {

/// Makes a context current for the life of this object and puts back what was
/// current before.
class CudaContextScope {
public:
  CudaContextScope(const cuda::Driver &driver, cuda::Context context)
      : Driver(driver), Pushed(driver.ctxPushCurrent(context)) {}
  ~CudaContextScope() {
    cuda::Context popped;
    if (isEntered())
      Driver.ctxPopCurrent(&popped);
  }
  CudaContextScope(const CudaContextScope &) = delete;

  /// Unless this is so, some other context is current.
  bool isEntered() const { return Pushed == cuda::kSuccess; }
  Status status() const { return Driver.check(Pushed, "cuCtxPushCurrent"); }

private:
  const cuda::Driver &Driver;
  cuda::Result Pushed;
};

class CudaGraph final : public Graph {
public:
  /// Takes the graph over.
  CudaGraph(std::shared_ptr<Device> device, const cuda::Driver &driver,
            cuda::Context context, cuda::GraphHandle graph)
      : Owner(std::move(device)), Driver(driver), Context(context),
        Recorded(graph) {}
  ~CudaGraph() override;

  Status instantiate();
  Status launch(Stream stream) override;
  Status update(GraphNode node, const KernelLaunch &launch) override;

private:
  std::shared_ptr<Device> Owner; ///< keeps the context
  const cuda::Driver &Driver;
  cuda::Context Context;
  cuda::GraphHandle Recorded;
  cuda::GraphExec Executable = nullptr;
};

} // namespace dlc
