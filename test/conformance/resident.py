# SPDX-License-Identifier: Apache-2.0
"""Bundles run by processes that stay: to start a process on a GPU takes longer
than most tests, and drivers start one after another.

As a program: one JSON line in (bundle, device, inputs, folder), one out (how,
text), until a run fails: what it leaves behind must not fail the next one.
"""

import json
import os
import queue
import select
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402


class Process:
    def __init__(self, build):
        environment = dict(os.environ, PYTHONPATH=str(build / "python"))
        self.process = subprocess.Popen(
            [sys.executable, __file__], env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def run(self, request, timeout):
        """What the process says, as harness.Said."""
        line = ""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            ready, _, _ = select.select([self.process.stdout], [], [], timeout)
            if not ready:
                self.process.kill()
                return harness.Said("broken",
                                    f"error: no end after {timeout} s", timeout)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if line:
            return harness.Said(**json.loads(line), seconds=0)
        return harness.Said("broken", "error: the process ended with status "
                            f"{self.process.wait()}", 0)

    def close(self):
        self.process.kill()
        self.process.communicate()


class Pool:
    """As many processes as threads ask at a time."""

    def __init__(self, build):
        self.build = Path(build).resolve()
        self.idle = queue.SimpleQueue()

    def usable(self):
        """Whether this Python can import the build's package."""
        return subprocess.run(
            [sys.executable, "-c", "import dlc"], capture_output=True,
            env=dict(os.environ, PYTHONPATH=str(self.build / "python"))
        ).returncode == 0

    def run(self, request, timeout=120):
        try:
            process = self.idle.get_nowait()
        except queue.Empty:
            process = Process(self.build)
        said = process.run(request, timeout)
        if said.how == "done":
            self.idle.put(process)
        else:
            process.close()
        return said

    def close(self):
        while not self.idle.empty():
            self.idle.get().close()


def serve():
    import dlc
    import onnx
    kept = None  # a first session, that the driver does not end its context
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"how": "done", "text": ""}
        try:
            session = dlc.Bundle(request["bundle"]).session(request["device"])
            outputs = session.run({
                name: onnx.numpy_helper.to_array(onnx.load_tensor(file))
                for name, file in request["inputs"]})
            for name, value in outputs.items():
                if value.dtype.isbuiltin != 1:  # .npy has no name for it
                    value = value.view(f"u{value.itemsize}")
                np.save(harness.output_file(request["folder"], name), value)
            kept = kept or session
        except (dlc.Error, ValueError) as error:
            answer = {"how": "refused", "text": f"error: {error}"}
        print(json.dumps(answer), flush=True)
        if answer["how"] != "done":
            return


if __name__ == "__main__":
    serve()
