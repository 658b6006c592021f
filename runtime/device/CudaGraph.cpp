// SPDX-License-Identifier: Apache-2.0
// A recorded CUDA graph, ready for replay.
#include "runtime/device/CudaGraph.h"

using namespace dlc;

CudaGraph::~CudaGraph() {
  CudaContextScope scope(Driver, Context);
  if (!scope.isEntered())
    return;
  if (Executable)
    Driver.graphExecDestroy(Executable);
  Driver.graphDestroy(Recorded);
}

Status CudaGraph::instantiate() {
  CudaContextScope scope(Driver, Context);
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.graphInstantiate(&Executable, Recorded, 0),
                      "cuGraphInstantiateWithFlags");
}

Status CudaGraph::launch(Stream stream) {
  CudaContextScope scope(Driver, Context);
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.graphLaunch(Executable, stream), "cuGraphLaunch");
}

Status CudaGraph::update(GraphNode node, const KernelLaunch &launch) {
  CudaContextScope scope(Driver, Context);
  DLC_RETURN_IF_FAILED(scope.status());
  void *parameters[] = {const_cast<uint8_t *>(launch.parameters)};
  cuda::KernelNodeParams params = {};
  params.function = launch.function;
  params.gridX = launch.grid[0];
  params.gridY = launch.grid[1];
  params.gridZ = launch.grid[2];
  params.blockX = launch.kernel->threads;
  params.blockY = params.blockZ = 1;
  params.sharedBytes = launch.kernel->smem_bytes;
  params.kernelParams = parameters;
  return Driver.check(
      Driver.graphExecKernelNodeSetParams(Executable, node, &params),
      say("cuGraphExecKernelNodeSetParams for kernel \"", launch.kernel->name,
          "\""));
}
