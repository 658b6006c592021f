# SPDX-License-Identifier: Apache-2.0
"""dlc beside PyTorch and onnxruntime in one run: fp16, CUDA graphs, medians of
replays.

For each network of models.py: exported to ONNX, compiled by dlc for this
machine's GPU, checked against PyTorch in fp32, timed by `dlc-run --bench`:
the median of runs that the host starts and waits for, which is what the limit
is for, and the time per run of many that are queued. The others are timed on
the device, as peers.py says, without the host's start and wait. Needs PyTorch,
torchvision, transformers, onnx; onnxruntime's column needs its CUDA provider.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import models  # noqa: E402
import peers  # noqa: E402


def run(*command) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


def error(out: np.ndarray, ref: np.ndarray) -> tuple:
    """The two figures of the comparison: norm, and the worst element's share of its bound."""
    out, ref = out.astype(np.float64), ref.astype(np.float64)
    rms = np.sqrt(np.mean(ref**2))
    norm = np.linalg.norm(out - ref) / np.linalg.norm(ref)
    worst = np.max(np.abs(out - ref) / (8 * 1e-2 * (np.abs(ref) + rms)))
    return float(norm), float(worst)


def bench(name, make, inputs, input_names, limit, options) -> dict:
    folder = options.work / name
    folder.mkdir(parents=True, exist_ok=True)
    module, inputs = make(), inputs()
    onnx_path = folder / "model.onnx"
    torch.onnx.export(module, inputs, str(onnx_path), input_names=input_names,
                      output_names=["y"], opset_version=17, dynamo=False)
    begin = time.time()
    bundle = folder / "model.bundle"
    log = run(options.build / "bin/dlc", onnx_path, "-o", bundle, "--precision=fp16",
              f"--target={options.target}", *options.dlc)
    compile_s = time.time() - begin
    for n, t in zip(input_names, inputs):
        np.save(folder / f"{n}.npy", t.numpy())
    given = [f"--input={n}={folder / n}.npy" for n in input_names]
    run(options.build / "bin/dlc-run", bundle, *given, "--save", folder / "out", "--device=cuda")
    with torch.no_grad():
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        ref = module.float().cuda()(*[t.cuda() for t in inputs]).cpu().numpy()
    norm, worst = error(np.load(folder / "out/y.npy"), ref)
    timing = run(options.build / "bin/dlc-run", bundle, *given, "--bench", "--device=cuda")
    (folder / "bench.txt").write_text(timing)
    profile = run(options.build / "bin/dlc-run", bundle, *given, "--profile", "--device=cuda")
    (folder / "profile.txt").write_text(profile)
    median = float(re.search(r"median\D*([0-9.]+)\s*ms", timing).group(1))
    queued = float(re.search(r"back to back\s+([0-9.]+)\s*ms", timing).group(1))
    peer = peers.torch_ms(module, inputs)
    ort = peers.onnxruntime_ms(module, inputs, input_names, folder / "half.onnx")
    result = dict(name=name, dlc_ms=median, queued_ms=queued, torch_ms=peer,
                  onnxruntime_ms=ort, ratio=peer / median, limit_ms=limit, norm=norm,
                  worst=worst, compile_s=compile_s,
                  ok=norm <= 1e-2 and worst <= 1 and (limit is None or median <= limit))
    print(f"{name}: dlc {median:.4f} ms, queued {queued:.4f} ms, "
          f"PyTorch {peer:.4f} ms ({peer / median:.2f}x), "
          f"onnxruntime {f'{ort:.4f} ms ({ort / median:.2f}x)' if ort else '-'}, limit {limit} ms; "
          f"error {norm:.1e}, worst element at {worst:.2f} of its bound; compiled in {compile_s:.1f} s",
          flush=True)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--only", default="", help="only networks whose name contains this")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--dlc", action="append", default=[], help="a further option of dlc")
    options = parser.parse_args()
    results = []
    for name, make, inputs, input_names, limit in models.TABLE:
        if options.only not in name:
            continue
        try:
            results.append(bench(name, make, inputs, input_names, limit, options))
        except Exception as e:  # one network must not keep the others from running
            print(f"{name}: {e}", flush=True)
            results.append(dict(name=name, ok=False, error=str(e)))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    good = sum(r["ok"] for r in results)
    print(f"{good} passed, {len(results) - good} failed, 0 skipped")
    return good != len(results)


if __name__ == "__main__":
    sys.exit(main())
