# SPDX-License-Identifier: Apache-2.0
"""How long others take for the same network on this GPU: fp16, a CUDA graph
replayed, time on the device between two events."""
import statistics

import torch


def _median_ms(replay, stream, replays: int) -> float:
    times = []
    for _ in range(20):
        replay()
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(stream)
        replay()
        end.record(stream)
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def torch_ms(module, inputs, replays: int = 200) -> float:
    """Median milliseconds of one replay of the captured graph, on the device."""
    module = module.half().cuda()
    inputs = [t.cuda().half() if t.is_floating_point() else t.cuda() for t in inputs]
    if inputs[0].dim() == 4:
        module = module.to(memory_format=torch.channels_last)
        inputs = [t.contiguous(memory_format=torch.channels_last) for t in inputs]
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(5):
                module(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            module(*inputs)
    return _median_ms(graph.replay, torch.cuda.current_stream(), replays)


def onnxruntime_ms(module, inputs, names, path, replays: int = 200):
    """The same for onnxruntime's CUDA provider with the module exported in half
    precision to `path`; None where that provider is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        return None
    module = module.half().cuda()
    inputs = [t.cuda().half() if t.is_floating_point() else t.cuda() for t in inputs]
    torch.onnx.export(module, tuple(inputs), str(path), input_names=names,
                      output_names=["y"], opset_version=17, dynamo=False)
    stream = torch.cuda.Stream()
    session = onnxruntime.InferenceSession(str(path), providers=[(
        "CUDAExecutionProvider",
        {"enable_cuda_graph": "1", "user_compute_stream": str(stream.cuda_stream)})])
    if session.get_providers()[0] != "CUDAExecutionProvider":
        return None  # it was built in, but its libraries are not here
    with torch.no_grad():
        out = torch.empty_like(module(*inputs)).contiguous()
    binding = session.io_binding()
    types = {torch.float16: "float16", torch.int64: "int64"}
    for name, t in zip(names, inputs):
        binding.bind_input(name, "cuda", 0, onnx_type(types[t.dtype]),
                           tuple(t.shape), t.data_ptr())
    binding.bind_output("y", "cuda", 0, onnx_type("float16"), tuple(out.shape),
                        out.data_ptr())
    # Whoever waits for the events waits for the run.
    options = onnxruntime.RunOptions()
    options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    return _median_ms(lambda: session.run_with_iobinding(binding, options), stream, replays)


def onnx_type(name: str):
    import numpy

    return numpy.dtype(name).type
