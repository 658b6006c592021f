# SPDX-License-Identifier: Apache-2.0
"""Bundle and Session over the C interface."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlc import _runtime
from dlc.errors import (BAD_INPUT, NO_DEVICE, UNSUPPORTED, Error,
                        translated)

DEVICES = {"auto": 0, "cuda": 1, "host": 2}
# kDLCUDA of DLPack's DLDeviceType.
DLPACK_CUDA = 2
TYPES = {name: number for number, name in enumerate(_runtime.type_names())}
NUMPY = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32",
         "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}
NARROW = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
          "f8e5m2": "float8_e5m2"}


def numpy_type(name):
    """The NumPy type of an element type; the narrow ones need ml_dtypes."""
    if name in NUMPY:
        return np.dtype(NUMPY[name])
    if name in NARROW:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, NARROW[name]))
    return np.dtype("uint8")


@dataclass(frozen=True)
class Port:
    """An input or output: -1 stands for a dimension that the shapes decide,
    within lower and upper."""
    name: str
    type: str
    shape: tuple
    lower: tuple
    upper: tuple


def ports(rows):
    return [Port(name, type, tuple(dims), tuple(lower), tuple(upper))
            for name, type, dims, lower, upper in rows]


def known(kind, name, ports):
    """The port of that name; a sentence if there is none."""
    for port in ports:
        if port.name == name:
            return port
    raise ValueError(f"no {kind} '{name}', the model has "
                     + ", ".join(f"'{p.name}'" for p in ports))


def named(what, arrays):
    """The arrays; a sentence if they have no names."""
    if not isinstance(arrays, Mapping):
        raise TypeError(f"{what}: got a {type(arrays).__name__}, expected a "
                        "dictionary {name: array}")
    return arrays


def check_output(name, value):
    """Whether results can be written into it, and not into a copy."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            raise ValueError(f"output '{name}' is read-only")
        if not value.flags.c_contiguous:
            raise ValueError(f"output '{name}' is not dense and row-major")
    elif not hasattr(value, "__dlpack__"):
        raise ValueError(f"output '{name}' is of type "
                         f"{type(value).__name__}, expected an array")


def without_gpu(bundle):
    """How to go on where there is no GPU."""
    if any(variant["target"] == "host" for variant in bundle.variants):
        return 'the bundle runs on the CPU with device "host"'
    return ('compiled with targets="host" it runs here, with device "host"')


class Bundle:
    """A compiled model: a file, or the bytes of one."""

    def __init__(self, source):
        self._recipe = None
        with translated():
            self._handle = (_runtime.Bundle.open_bytes(source)
                            if isinstance(source, bytes) else
                            _runtime.Bundle.open(str(source)))

    @property
    def variants(self):
        """One dictionary per build: target, precision, shapes and sizes."""
        return self._handle.variants()

    def session(self, device="auto", **options):
        """A Session; see there for the options."""
        return Session(self, device, **options)


class Session:
    """Runs a bundle; threads that share it take turns, several sessions run at
    once.

    device           "auto" (a GPU), "cuda", or "host": the bundle's CPU code
    device_index     which GPU
    target, precision  only variants with these; None: the best
    threads          on the host: threads; 0: all cores
    compile_missing  compile shapes that the bundle does not hold; needs a
                     bundle that dlc.compile() made, and the compiler
    """

    def __init__(self, bundle, device="auto", *, device_index=0, target=None,
                 precision=None, threads=0, adversarial_seed=0, graphs=True,
                 compile_missing=False):
        if not isinstance(bundle, Bundle):
            bundle = Bundle(bundle)
        if device not in DEVICES:
            raise ValueError(f"device '{device}', expected one of "
                             + ", ".join(DEVICES))
        if compile_missing and bundle._recipe is None:
            raise ValueError("compile_missing needs a bundle that "
                             "dlc.compile() made: this one does not know "
                             "where its model is")
        self._bundle = bundle
        self._options = dict(device_index=device_index, target=target,
                             precision=precision, threads=threads,
                             adversarial_seed=adversarial_seed, graphs=graphs)
        self._device = device
        self._compile_missing = compile_missing
        self._running = threading.Lock()
        self._others = {}  # input shapes: a session that was compiled for them
        try:
            with translated():
                self._handle = _runtime.Session.create(
                    bundle._handle, DEVICES[device], **self._options)
        except Error as error:
            if device != "auto" or error.status != NO_DEVICE:
                raise
            raise Error(error.status,
                        f"{error}; {without_gpu(bundle)}") from None
        self.inputs = ports(self._handle.inputs())
        self.outputs = ports(self._handle.outputs())

    @property
    def device_name(self):
        return self._handle.device_name()

    def run(self, inputs, outputs=None, stream=None, copy=True):
        """Runs once; returns {output: NumPy array}.

        inputs   {name: array}: NumPy, or anything with DLPack (torch, cupy) in
                 host or GPU memory; dense row-major arrays are not copied
        outputs  {name: writable array} to fill in place; they are not in what
                 is returned
        stream   a CUstream as a number (0: the default stream) instead of the
                 session's own; run() waits for the end all the same. What
                 other libraries have queued to make or read the arrays is
                 waited for, whatever their stream (by DLPack)
        copy     False: return nothing, for those who gave all outputs
        """
        inputs = {name: self._input(name, value)
                  for name, value in named("inputs", inputs).items()}
        outputs = {} if outputs is None else named("outputs", outputs)
        key = tuple(sorted((name, tuple(value.shape))
                           for name, value in inputs.items()))
        with self._running:
            return self._run(key, inputs, outputs, stream, copy)

    def _run(self, key, inputs, outputs, stream, copy):
        if key in self._others:
            return self._others[key].run(inputs, outputs, stream, copy)
        try:
            with translated():
                self._bind(inputs, outputs, stream)
                self._handle.run(stream)
                return self._results(outputs) if copy else {}
        except Error as error:
            if not (self._compile_missing and
                    error.status in (UNSUPPORTED, BAD_INPUT) and
                    self._shapes_alone_differ(inputs)):
                raise
        self._others[key] = self._compiled_for(inputs)
        return self._others[key].run(inputs, outputs, stream, copy)

    def reset_state(self):
        """State of recurrent models back to where it started."""
        with translated():
            self._handle.reset_state()

    def _input(self, name, value):
        """An array of the model's input `name`."""
        if isinstance(value, np.generic):
            return np.asarray(value)
        if hasattr(value, "shape"):
            return value
        port = known("input", name, self.inputs)
        if not isinstance(value, (list, tuple, float, int)):
            raise ValueError(f"input '{name}' is of type "
                             f"{type(value).__name__}, expected an array")
        return np.asarray(value, numpy_type(port.type))

    def _bind(self, inputs, outputs, stream):
        index = {port.name: i for i, port in enumerate(self.inputs)}
        for name in inputs:
            known("input", name, self.inputs)
        for name, value in outputs.items():
            known("output", name, self.outputs)
            if value is not None:
                check_output(name, value)
        missing = [name for name in index if name not in inputs]
        if missing:
            raise ValueError("no value for input "
                             + ", ".join(f"'{n}'" for n in missing))
        for name, value in inputs.items():
            array, number = self._array(self.inputs[index[name]], value)
            self._handle.bind_input(index[name],
                                    self._ordered(array, stream), number)
        for i, port in enumerate(self.outputs):
            value = outputs.get(port.name)
            if value is None:
                self._handle.bind_output(i, None, 0)
            else:
                self._handle.bind_output(i, self._ordered(value, stream),
                                         TYPES[port.type])

    def _ordered(self, array, stream):
        """What is in GPU memory as a DLPack capsule, whose maker has put the
        stream of the run behind its own."""
        if isinstance(array, np.ndarray) or not hasattr(
                array, "__dlpack_device__"):
            return array
        if array.__dlpack_device__()[0] != DLPACK_CUDA:
            return array
        if stream is None:
            stream = self._handle.stream()
        # DLPack's number of the default stream is 1; 0 is ambiguous there.
        return array.__dlpack__(stream=stream or 1)

    @staticmethod
    def _array(port, value):
        """(array, number of its type); NumPy arrays are checked here, since
        the bits alone do not say what they are."""
        if isinstance(value, np.ndarray):
            expected = numpy_type(port.type)
            if value.dtype != expected:
                raise ValueError(f"input '{port.name}' has type {value.dtype},"
                                 f" expected {expected}")
            value = np.asarray(value, order="C")  # of rank 0, too
            if port.type in NARROW:
                value = value.view(f"uint{8 * expected.itemsize}")
        return value, TYPES[port.type]

    def _results(self, given):
        results = {}
        for i, port in enumerate(self.outputs):
            if port.name in given:
                continue
            type_name, shape, count = self._handle.describe_output(i)
            data = np.empty(count, np.uint8)
            self._handle.copy_output(i, data)
            results[port.name] = data.view(numpy_type(type_name)).reshape(
                shape)
        return results

    def _shapes_alone_differ(self, inputs):
        """Whether another shape could serve these inputs: names and ranks."""
        return all(port.name in inputs and
                   len(port.shape) == len(inputs[port.name].shape)
                   for port in self.inputs)

    def _compiled_for(self, inputs):
        from dlc.compiler import compile
        recipe = dict(self._bundle._recipe)
        bundle = compile(recipe.pop("model"), **recipe, shapes={
            name: tuple(value.shape) for name, value in inputs.items()})
        return Session(bundle, self._device, **self._options)
