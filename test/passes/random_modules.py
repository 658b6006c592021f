# SPDX-License-Identifier: Apache-2.0
"""Random modules through the passes: each must still compute the same, and a
second run must find nothing to do.

usage: random_modules.py FIRST COUNT [dlc-opt options]
Prints the module and what dlc-opt said for each seed that fails."""

import random
import subprocess
import sys


class Module:
    """Builds one graph; every value is (name, element type, shape). The symbol
    "N" stands for a size that is never multiplied with itself."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.values, self.inputs = [], [], []
        for i in range(self.r.randint(1, 3)):
            rank = self.r.randint(2, 4)
            shape = [self.r.choice([1, 2, 3, 4, 6]) for _ in range(rank)]
            if self.r.random() < 0.5:
                shape[0] = "N"
            name = f"%in{i}"
            self.inputs.append(f"{name}: {self.type('f32', shape)}")
            self.values.append((name, "f32", shape))

    @staticmethod
    def dim(d):
        return '"N"' if d == "N" else str(d)

    def type(self, element, shape):
        return f"tensor<{''.join(self.dim(d) + 'x' for d in shape)}{element}>"

    def dims(self, shape):
        return "[" + ", ".join(self.dim(d) for d in shape) + "]"

    def emit(self, op, operands, attributes, element, shape):
        name = f"%v{len(self.lines)}"
        text = ", ".join(operands)
        text = f"{name} = {op}({text})"
        if attributes:
            text += " {" + ", ".join(f"{k} = {v}" for k, v in attributes) + "}"
        self.lines.append(f"{text} : {self.type(element, shape)}")
        value = (name, element, list(shape))
        self.values.append(value)
        return value

    def constant(self, element, shape):
        count = 1
        for d in shape:
            count *= d
        numbers = [self.r.choice([0.5, -1.0, 2.0, 0.25, 3.0, -0.75, 1.0])
                   for _ in range(count)]
        name = f"%v{len(self.lines)}"
        kind = self.type(element, shape)
        text = (f"[{', '.join(map(str, numbers))}]" if self.r.random() < 0.8
                else str(numbers[0]))
        self.lines.append(
            f"{name} = constant {{value = dense<{text}> : {kind}}} : {kind}")
        return name

    def pick(self, accepts=lambda v: True):
        # The newest values most often: chains become long.
        fitting = [v for v in self.values if v[1] == "f32" and accepts(v)]
        if not fitting:
            return None
        index = len(fitting) - 1 - int(self.r.expovariate(0.4))
        return fitting[max(index, 0)]

    def unary(self):
        x = self.pick()
        op = self.r.choice(["relu", "neg", "abs", "sigmoid", "tanh", "floor",
                            "erf", "sin"])
        self.emit(op, [x[0]], [], "f32", x[2])

    def binary(self):
        x = self.pick()
        op = self.r.choice(["add", "sub", "mul", "max", "min", "add", "mul"])
        choice = self.r.random()
        if choice < 0.4:
            y = self.pick(lambda v: v[2] == x[2])[0]
        elif choice < 0.8:
            shape = [d if d != "N" and self.r.random() < 0.5 else 1
                     for d in x[2]]
            shape = shape[self.r.randint(0, len(shape)):]
            y = self.constant("f32", shape)
        else:
            other = self.pick(lambda v: len(v[2]) == len(x[2]) and all(
                a == b or b == 1 for a, b in zip(x[2], v[2])))
            y = (other or x)[0]
        operands = [x[0], y]
        if self.r.random() < 0.2:
            operands.reverse()
        self.emit(op, operands, [], "f32", x[2])

    def select(self):
        x = self.pick()
        y = self.pick(lambda v: v[2] == x[2])
        flag = self.emit("less", [x[0], y[0]], [], "bool", x[2])
        self.emit("select", [flag[0], x[0], y[0]], [], "f32", x[2])

    def cast(self):
        x = self.pick()
        to = self.r.choice(["i32", "f64"])
        middle = self.emit("cast", [x[0]], [("to", to)], to, x[2])
        self.emit("cast", [middle[0]], [("to", "f32")], "f32", x[2])

    def reduce(self):
        x = self.pick(lambda v: v[2])
        axes = sorted(self.r.sample(range(len(x[2])),
                                    self.r.randint(1, len(x[2]))))
        keep = self.r.random() < 0.7
        shape = [1 if i in axes else d for i, d in enumerate(x[2])]
        if not keep:
            shape = [d for i, d in enumerate(x[2]) if i not in axes]
        kind = self.r.choice(["sum", "max", "min"])
        y = self.emit("reduce", [x[0]], [
            ("kind", kind), ("axes", axes),
            ("keepDims", "true" if keep else "false")], "f32", shape)
        if keep and self.r.random() < 0.7:
            self.emit(self.r.choice(["sub", "mul", "add"]), [x[0], y[0]], [],
                      "f32", x[2])

    def transpose(self):
        x = self.pick()
        order = list(range(len(x[2])))
        self.r.shuffle(order)
        self.emit("transpose", [x[0]], [("permutation", order)], "f32",
                  [x[2][i] for i in order])

    def reshape(self):
        x = self.pick()
        shape = list(x[2])
        choice = self.r.random()
        if choice < 0.4 and len(shape) < 5:
            shape.insert(self.r.randint(0, len(shape)), 1)
        elif choice < 0.7 and 1 in shape:
            shape.remove(1)
        else:
            places = [i for i in range(len(shape) - 1)
                      if shape[i] != "N" and shape[i + 1] != "N"]
            if not places:
                return
            i = self.r.choice(places)
            shape[i:i + 2] = [shape[i] * shape[i + 1]]
        if shape:
            self.emit("reshape", [x[0]], [("shape", self.dims(shape))], "f32",
                      shape)

    def slice(self):
        x = self.pick()
        starts, sizes, steps = [], [], []
        for d in x[2]:
            if d == "N" or self.r.random() < 0.4:
                starts.append(0), sizes.append(d), steps.append(1)
                continue
            size = self.r.randint(1, d)
            start = self.r.randint(0, d - size)
            if self.r.random() < 0.2:
                starts.append(start + size - 1), steps.append(-1)
            else:
                starts.append(start), steps.append(1)
            sizes.append(size)
        self.emit("slice", [x[0]], [
            ("starts", starts), ("sizes", self.dims(sizes)),
            ("steps", steps)], "f32", sizes)

    def pad(self):
        x = self.pick()
        if any(d != "N" and d > 12 for d in x[2]):
            return
        low = [0 if d == "N" else self.r.choice([0, 0, 1, 2]) for d in x[2]]
        high = [0 if d == "N" else self.r.choice([0, 0, 1]) for d in x[2]]
        shape = [d if d == "N" else d + a + b
                 for d, a, b in zip(x[2], low, high)]
        self.emit("pad", [x[0], "_"], [("low", low), ("high", high)], "f32",
                  shape)

    def concat(self):
        x = self.pick()
        axes = [i for i, d in enumerate(x[2]) if d != "N" and d < 20]
        if not axes:
            return
        axis = self.r.choice(axes)
        y = self.pick(lambda v: len(v[2]) == len(x[2]) and all(
            i == axis and b != "N" and b < 20 or a == b
            for i, (a, b) in enumerate(zip(x[2], v[2]))))
        shape = list(x[2])
        shape[axis] += y[2][axis]
        self.emit("concat", [x[0], y[0]], [("axis", axis)], "f32", shape)

    def broadcast(self):
        x = self.pick(lambda v: 1 in v[2])
        if x:
            shape = [self.r.choice([1, 3]) if d == 1 else d for d in x[2]]
            self.emit("broadcast", [x[0]], [("shape", self.dims(shape))],
                      "f32", shape)

    def gather(self):
        x = self.pick(lambda v: v[2] and v[2][-1] != "N")
        if not x:
            return
        count = self.r.randint(1, 3)
        at = [self.r.randint(0, x[2][-1] - 1) for _ in range(count)]
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = constant {{value = dense<{at}> : "
                          f"tensor<{count}xi64>}} : tensor<{count}xi64>")
        axis = len(x[2]) - 1
        self.emit("gather", [x[0], name], [("axis", axis)], "f32",
                  x[2][:-1] + [count])

    def matmul(self):
        x = self.pick(lambda v: len(v[2]) >= 2 and v[2][-1] != "N")
        if not x:
            return
        k, n = x[2][-1], self.r.choice([1, 2, 5])
        turned = self.r.random() < 0.3
        w = self.constant("f32", [n, k] if turned else [k, n])
        self.emit("matmul", [x[0], w],
                  [("transposeRhs", "true")] if turned else [], "f32",
                  x[2][:-1] + [n])

    def scores(self):
        x = self.pick(lambda v: len(v[2]) >= 3 and "N" not in v[2][-2:])
        if x:
            self.emit("matmul", [x[0], x[0]], [("transposeRhs", "true")],
                      "f32", x[2][:-1] + [x[2][-2]])

    def conv(self):
        x = self.pick(lambda v: len(v[2]) == 4 and "N" not in v[2][1:])
        if not x:
            return
        c, h, w = x[2][1:]
        groups = c if self.r.random() < 0.3 else 1
        m = c if groups > 1 else self.r.choice([1, 2, 4])
        kernel = [min(h, self.r.choice([1, 3])), min(w, self.r.choice([1, 2]))]
        low, high = self.r.choice([0, 1]), self.r.choice([0, 1])
        f = self.constant("f32", [m, c // groups] + kernel)
        y = self.emit("conv", [x[0], f], [
            ("strides", [1, 1]), ("padLow", [low, 0]), ("padHigh", [high, 0]),
            ("dilations", [1, 1]), ("groups", groups)], "f32",
            [x[2][0], m, h + low + high - kernel[0] + 1, w - kernel[1] + 1])
        if self.r.random() < 0.6:
            s = self.constant("f32", [m, 1, 1])
            self.emit(self.r.choice(["mul", "add"]), [y[0], s], [], "f32", y[2])

    def pool(self):
        x = self.pick(lambda v: len(v[2]) == 4 and "N" not in v[2][1:]
                      and v[2][2] > 1)
        if x:
            kind = self.r.choice(["max", "average"])
            self.emit("pool", [x[0]], [
                ("kind", kind), ("window", [1, 1, 2, 1]),
                ("strides", [1, 1, 1, 1]), ("padLow", [0, 0, 0, 0]),
                ("padHigh", [0, 0, 0, 0]), ("dilations", [1, 1, 1, 1])],
                "f32", [x[2][0], x[2][1], x[2][2] - 1, x[2][3]])

    def text(self):
        steps = [self.unary, self.binary, self.binary, self.binary,
                 self.select, self.cast, self.reduce, self.reduce,
                 self.transpose, self.reshape, self.slice, self.pad,
                 self.concat, self.broadcast, self.gather, self.matmul,
                 self.scores, self.conv, self.conv, self.pool]
        for _ in range(self.r.randint(4, 30)):
            self.r.choice(steps)()
        used = " ".join(line.split(" = ", 1)[1] for line in self.lines)
        used = used.replace(",", " ").replace("(", " ").replace(")", " ")
        used = set(used.split())
        results = [v for v in self.values
                   if v[0] not in used or self.r.random() < 0.1]
        outputs = ", ".join(f'{v[0]} as "y{i}"'
                            for i, v in enumerate(results))
        body = "\n".join("    " + line for line in self.lines)
        return ('module {\n  symbol "N" range(1, 8)\n'
                f"  graph @main({', '.join(self.inputs)}) -> ({outputs}) {{\n"
                f"{body}\n  }}\n}}\n")


def main():
    first, count, options = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    failed = 0
    for seed in range(first, first + count):
        text = Module(seed).text()
        done = subprocess.run(
            ["dlc-opt", "--pipeline=default", "--twice", "--check-values",
             *options, "-o", "/dev/null"],
            input=text, capture_output=True, text=True)
        if done.returncode:
            failed += 1
            print(f"// seed {seed}: {done.stderr.strip()}\n{text}")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
