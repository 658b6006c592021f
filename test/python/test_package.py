# SPDX-License-Identifier: Apache-2.0
"""The Python package on small models that are made here, host target."""

import os
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dlc
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(7)
WEIGHT = RANDOM.standard_normal((6, 5), dtype=np.float32)


def save(folder, nodes, inputs, outputs, constants):
    graph = helper.make_graph(
        nodes, "test",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = Path(folder) / "test.onnx"
    onnx.save(model, path)
    return path


def save_recurrent(folder):
    """y = x + h and h_out = -y, of three elements."""
    f32 = TensorProto.FLOAT
    return save(folder, [helper.make_node("Add", ["x", "h"], ["y"]),
                         helper.make_node("Neg", ["y"], ["h_out"])],
                [("x", f32, [3]), ("h", f32, [3])],
                [("y", f32, [3]), ("h_out", f32, [3])], {})


class ModelTest(unittest.TestCase):
    """Has self.model: y = relu(x w) in self.folder, x of N rows."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        f32 = TensorProto.FLOAT
        self.model = save(
            folder.name,
            [helper.make_node("MatMul", ["x", "w"], ["m"]),
             helper.make_node("Relu", ["m"], ["y"])],
            [("x", f32, ["N", 6])], [("y", f32, ["N", 5])], {"w": WEIGHT})
        self.folder = Path(folder.name)


class PackageTest(ModelTest):
    def compiled(self, **options):
        return dlc.compile(self.model, targets="host", **options)

    def input(self, rows):
        return RANDOM.standard_normal((rows, 6), dtype=np.float32)

    def check(self, outputs, x):
        np.testing.assert_allclose(
            outputs["y"], np.maximum(x @ WEIGHT, 0), rtol=1e-5, atol=1e-5)

    def test_values(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        for _ in range(2):
            x = self.input(3)
            self.check(session.run({"x": x}), x)

    def test_scalars(self):
        f32 = TensorProto.FLOAT
        model = save(self.folder, [helper.make_node("Mul", ["x", "s"], ["y"])],
                     [("x", f32, [3]), ("s", f32, [])], [("y", f32, [3])], {})
        session = dlc.compile(model, targets="host").session("host")
        x = RANDOM.standard_normal(3, dtype=np.float32)
        for factor in 3, 3.0, np.float32(3), np.array(3, np.float32):
            outputs = session.run({"x": x, "s": factor})
            np.testing.assert_array_equal(outputs["y"], x * np.float32(3))
        with self.assertRaisesRegex(ValueError, "float64, expected float32"):
            session.run({"x": x, "s": np.float64(3)})

    def test_array_that_is_not_dense(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        x = RANDOM.standard_normal((6, 3), dtype=np.float32).T
        self.check(session.run({"x": x}), x)

    def test_array_that_is_read_only(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        x = np.frombuffer(self.input(3).tobytes(), np.float32).reshape(3, 6)
        self.check(session.run({"x": x}), x)
        x = np.broadcast_to(self.input(1), (3, 6))
        self.check(session.run({"x": x}), x)

    def test_dlpack_capsules(self):
        """As arrays in GPU memory come, here of memory that the host reads."""
        class Elsewhere:
            def __init__(self, array):
                self.array, self.shape = array, array.shape

            def __dlpack_device__(self):
                return 2, 0  # CUDA

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__()

        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        for _ in range(2):
            x, y = self.input(3), np.full((3, 5), np.nan, np.float32)
            self.check(session.run({"x": Elsewhere(x)}), x)
            session.run({"x": Elsewhere(x)}, outputs={"y": Elsewhere(y)})
            self.check({"y": y}, x)
        with self.assertRaisesRegex(dlc.Error, "input 'x' has type f64"):
            session.run({"x": Elsewhere(x.astype(np.float64))})

    def test_numbers_without_an_array(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        x = self.input(3)
        self.check(session.run({"x": x.tolist()}), x)
        for value in (None, "abc"):
            with self.assertRaisesRegex(ValueError, "'x'.*expected an array"):
                session.run({"x": value})

    def test_output_that_cannot_be_filled(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        sealed = np.zeros((3, 5), np.float32)
        sealed.flags.writeable = False
        for y, sentence in ((sealed, "read-only"), ([], "expected an array"),
                            (np.zeros((3, 10), np.float32)[:, ::2], "dense")):
            with self.assertRaisesRegex(ValueError, f"output 'y'.*{sentence}"):
                session.run({"x": self.input(3)}, outputs={"y": y})
        with self.assertRaisesRegex(ValueError, "no output 'z'.*'y'"):
            session.run({"x": self.input(3)}, outputs={"z": y})

    def test_arrays_without_names(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        x, y = self.input(3), np.zeros((3, 5), np.float32)
        for inputs in ([x], x, None, "x"):
            with self.assertRaisesRegex(
                    TypeError, f"inputs: got a {type(inputs).__name__}, "
                    "expected a dictionary {name: array}"):
                session.run(inputs)
        for outputs in ([y], y):
            with self.assertRaisesRegex(TypeError, "outputs: got a .*expected"):
                session.run({"x": x}, outputs=outputs)
        self.check(session.run({"x": x}, outputs={}), x)

    def test_threads_that_share_a_session(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        inputs = [self.input(3) for _ in range(8)]
        with ThreadPoolExecutor(len(inputs)) as pool:
            for outputs, x in zip(pool.map(
                    lambda x: session.run({"x": x}), inputs * 40), inputs * 40):
                self.check(outputs, x)

    def test_output_in_place(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        x, y = self.input(3), np.full((3, 5), np.nan, np.float32)
        self.assertEqual(session.run({"x": x}, outputs={"y": y}), {})
        self.check({"y": y}, x)

    def test_output_of_another_type(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        y = np.full((3, 5), np.nan, np.float64)
        with self.assertRaisesRegex(
                dlc.Error, "output 'y' has type f64, expected f32"):
            session.run({"x": self.input(3)}, outputs={"y": y})

    def test_ports_and_variants(self):
        bundle = self.compiled(shapes={"x": (3, 6)})
        session = bundle.session("host")
        self.assertEqual([p.name for p in session.inputs], ["x"])
        self.assertEqual(session.outputs[0].type, "f32")
        self.assertIn("host", session.device_name)
        self.assertEqual([v["target"] for v in bundle.variants], ["host"])

    def test_state(self):
        model = save_recurrent(self.folder)
        session = dlc.compile(model, targets="host",
                              states={"h": "h_out"}).session("host")
        h = np.zeros(3, np.float32)
        for step in range(4):
            if step == 2:
                session.reset_state()
                h = np.zeros(3, np.float32)
            x = RANDOM.standard_normal(3, dtype=np.float32)
            outputs = session.run({"x": x})
            self.assertEqual(list(outputs), ["y"])
            np.testing.assert_array_equal(outputs["y"], x + h)
            h = -outputs["y"]

    def test_several_shapes_in_one_bundle(self):
        bundle = self.compiled(shapes=[{"x": (1, 6)}, {"x": (4, 6)}])
        session = bundle.session("host")
        for rows in (1, 4, 1):
            x = self.input(rows)
            self.check(session.run({"x": x}), x)

    def test_bundle_from_bytes(self):
        path = self.folder / "test.bundle"
        self.compiled(output=path, shapes={"x": (2, 6)})
        session = dlc.Bundle(path.read_bytes()).session("host")
        x = self.input(2)
        self.check(session.run({"x": x}), x)

    def test_missing_shape_is_refused(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        with self.assertRaises(dlc.Error) as caught:
            session.run({"x": self.input(4)})
        self.assertIn("4", str(caught.exception))

    def test_missing_shape_is_compiled_when_asked(self):
        session = self.compiled(shapes={"x": (3, 6)}).session(
            "host", compile_missing=True)
        for rows in (3, 4, 3, 4):
            x = self.input(rows)
            self.check(session.run({"x": x}), x)

    def test_missing_shape_is_compiled_from_another_folder(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        bundle = dlc.compile(Path(self.model).name, targets="host",
                             shapes={"x": (3, 6)})
        os.chdir(before)
        session = bundle.session("host", compile_missing=True)
        x = self.input(4)
        self.check(session.run({"x": x}), x)

    def test_wrong_name_and_type(self):
        session = self.compiled(shapes={"x": (3, 6)}).session("host")
        with self.assertRaisesRegex(ValueError, "no input 'z'.*'x'"):
            session.run({"z": self.input(3)})
        with self.assertRaisesRegex(ValueError, "float64.*expected float32"):
            session.run({"x": self.input(3).astype(np.float64)})
        with self.assertRaisesRegex(ValueError, "no value for input 'x'"):
            session.run({})

    def test_how_to_go_on_without_a_gpu(self):
        """On a GPU the sentence is that no variant fits."""
        with self.assertRaises(dlc.Error) as caught:
            self.compiled(shapes={"x": (3, 6)}).session()
        self.assertRegex(str(caught.exception),
                         'no GPU: .*; the bundle runs on the CPU with device '
                         '"host"$|no variant of the bundle fits')

    def test_refusals(self):
        with self.assertRaises(dlc.Error):
            dlc.Bundle(b"no bundle")
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"no model")
        with self.assertRaisesRegex(dlc.CompileError, "error"):
            dlc.compile(broken, targets="host")


if __name__ == "__main__":
    unittest.main()
