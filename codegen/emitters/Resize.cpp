// SPDX-License-Identifier: Apache-2.0
// resize.
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/ProblemPrinter.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc;
using namespace dlc::codegen;

/// "half_pixel" as the device header spells it: "HalfPixel".
static std::string camel(llvm::StringRef text) {
  std::string s;
  bool upper = true;
  for (char c : text) {
    if (c == '_')
      upper = true;
    else
      s += upper ? llvm::toUpper(c) : c, upper = false;
  }
  return s;
}

llvm::Expected<Emission> ResizeEmitter::emit(const Unit &unit,
                                             const EmitContext &context) const {
  auto op = llvm::dyn_cast_or_null<ResizeOp>(unit.soleOp());
  if (!op)
    return refuse("");
  const TensorType &in = op.input()->type(), &out = unit.resultType(0);
  if (!hasDeviceType(in.element))
    return refuse("no device type for " + stringify(in.element));
  if (!in.layout.isUnsplit() || !out.layout.isPermutation())
    return refuse("operand or result is stored in blocks");
  KernelBuilder kernel(unit, context);
  kernel.include("resize");
  ProblemPrinter problem(kernel);
  const int64_t rank = in.rank();
  const bool exact = op.scales().empty();
  const std::string scalars = "DLC_DEVICE static ";
  problem.type("T", storageName(in.element));
  problem.type("Index", "::Index");
  problem.constant("int", "kRank", llvm::Twine(rank));
  problem.constant("ResizeFilter", "kFilter",
                   "ResizeFilter::" + camel(stringify(op.mode())));
  problem.constant("ResizeCoordinates", "kCoordinates",
                   "ResizeCoordinates::" + camel(stringify(op.coordinates())));
  problem.constant("ResizeNearest", "kNearest",
                   "ResizeNearest::" + camel(stringify(op.nearest())));
  problem.flag("kExcludeOutside", op.excludeOutside());
  problem.flag("kAntialias", op.antialias());
  problem.constant("double", "kCubic",
                   literal(DataType::F64, op.cubicCoefficient()));
  problem.constant("double", "kExtrapolation",
                   literal(DataType::F64, op.extrapolation()));
  problem.flag("kExact", exact);

  const bool crop = op.coordinates() == CoordinateMode::TfCropAndResize;
  std::string resized, scale, starts, ends;
  for (int64_t d = 0; d < rank; d++) {
    bool same = in.shape[d] == out.shape[d] && (exact || op.scales()[d] == 1);
    if (crop && !op.roi().empty())
      same &= op.roi()[d] == 0 && op.roi()[d + rank] == 1;
    std::string at = "d == " + std::to_string(d) + " ? ";
    resized += at + (same ? "false : " : "true : ");
    scale +=
        at + (exact ? "1.0" : literal(DataType::F64, op.scales()[d])) + " : ";
    starts += at +
              (op.roi().empty() ? "0.0" : literal(DataType::F64, op.roi()[d])) +
              " : ";
    ends += at +
            (op.roi().empty() ? "1.0"
                              : literal(DataType::F64, op.roi()[d + rank])) +
            " : ";
  }
  problem.function("constexpr bool", "resized", "int d", resized + "false");
  problem.function("double", "scale", "int d", scale + "1.0");
  problem.function("double", "roiStart", "int d", starts + "0.0");
  problem.function("double", "roiEnd", "int d", ends + "1.0");
  problem.sizes("in", in.shape);
  problem.sizes("out", out.shape);
  Dim elements = out.layout.storageElements(out.shape);
  problem.size("size", elements);
  problem.pointer(storageName(in.element), "input", kernel.operand(op.input()));
  problem.pointer(storageName(out.element), "result", kernel.result(0), true);

  // Element e in memory to coordinates, innermost stored dimension first.
  std::string decode;
  llvm::SmallVector<int64_t, 6> order = out.layout.order(rank);
  for (int64_t i = rank; i-- > 0;) {
    std::string extent = kernel.index().print(out.shape[order[i]]);
    std::string c = "c[" + std::to_string(order[i]) + "]";
    decode +=
        i ? "    " + c + " = e % (" + extent + ");\n    e /= " + extent + ";\n"
          : "    " + c + " = e;\n";
  }
  Shape index;
  for (int64_t d = 0; d < rank; d++) {
    std::string name = "c" + std::to_string(d),
                text = "c[" + std::to_string(d) + "]";
    index.push_back(
        kernel.index().declare(name, in.shape[d], [text] { return text; }));
  }
  std::string c = "Index (&c)[" + std::to_string(rank) + "]";
  problem.function("Index", "offset", "const P &p, const " + c,
                   kernel.index().print(in.layout.offset(in.shape, index)));
  kernel.functors = problem.str();
  // decode writes several values: a function of its own.
  kernel.functors.insert(
      kernel.functors.rfind("};"),
      "  static DLC_DEVICE void decode(const P &p, Index e, " + c + ") {\n" +
          decode + "  }\n");
  Emission made;
  made.steps.push_back(
      kernel.finish("resize", kernel.types(), stringify(op.mode()),
                    "  resize<Problem>(p);\n", {blocksFor(elements, 256)}));
  made.report =
      ("one thread per element, " + stringify(op.mode()) +
       (exact ? ", exact coordinates" : ", coordinates by the model's scales"))
          .str();
  return made;
}
