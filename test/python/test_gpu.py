# SPDX-License-Identifier: Apache-2.0
"""The Python package with arrays in GPU memory: needs a GPU and PyTorch."""

import importlib.util
import unittest

import dlc
import numpy as np
from test_package import RANDOM, WEIGHT, ModelTest, save_recurrent

if importlib.util.find_spec("torch"):
    import torch
else:
    torch = None


@unittest.skipUnless(torch and torch.cuda.is_available(),
                     "needs a GPU and PyTorch")
class GpuTest(ModelTest):
    ROWS = 512

    def setUp(self):
        super().setUp()
        self.session = dlc.compile(
            self.model, shapes={"x": (self.ROWS, 6)}).session("cuda")

    def expected(self, x):
        return np.maximum(x.cpu().numpy() @ WEIGHT, 0)

    def close(self, y, x):
        np.testing.assert_allclose(y.cpu().numpy(), self.expected(x),
                                   rtol=1e-5, atol=1e-5)

    def late(self, stream, fill):
        """A tensor that is written only after much other work on `stream`."""
        x = torch.full((self.ROWS, 6), float("nan"), device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            a = torch.ones(4096, 4096, device="cuda")
            for _ in range(20):
                a = a @ a * 1e-4
            x.copy_(fill, non_blocking=True)
        return x

    def test_in_gpu_memory(self):
        x = torch.randn(self.ROWS, 6, device="cuda")
        self.close(torch.from_numpy(self.session.run({"x": x})["y"]), x)

    def test_result_in_gpu_memory(self):
        for _ in range(3):  # other pointers each time: the graph is updated
            x = torch.randn(self.ROWS, 6, device="cuda")
            y = torch.full((self.ROWS, 5), float("nan"), device="cuda")
            self.assertEqual(self.session.run({"x": x}, outputs={"y": y}), {})
            self.close(y, x)

    def test_waits_for_what_makes_the_input(self):
        fill = torch.from_numpy(
            RANDOM.standard_normal((self.ROWS, 6), dtype=np.float32)).cuda()
        mine = torch.cuda.Stream()
        for torch_stream in (torch.cuda.default_stream(), mine):
            for given in (None, 0, mine.cuda_stream):
                y = torch.full((self.ROWS, 5), float("nan"), device="cuda")
                x = self.late(torch_stream, fill)
                with torch.cuda.stream(torch_stream):
                    self.session.run({"x": x}, outputs={"y": y}, stream=given)
                self.close(y, fill)

    def test_state(self):
        model = save_recurrent(self.folder)
        session = dlc.compile(model, states={"h": "h_out"}).session("cuda")
        h = np.zeros(3, np.float32)
        for _ in range(4):
            x = RANDOM.standard_normal(3, dtype=np.float32)
            y = session.run({"x": x})["y"]
            np.testing.assert_array_equal(y, x + h)
            h = -y

    def test_wrong_type(self):
        x = torch.randn(self.ROWS, 6, device="cuda", dtype=torch.float64)
        with self.assertRaisesRegex((dlc.Error, ValueError), "x"):
            self.session.run({"x": x})


if __name__ == "__main__":
    unittest.main()
