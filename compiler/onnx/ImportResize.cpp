// SPDX-License-Identifier: Apache-2.0
// Resize and the older Upsample.
#include "compiler/onnx/Operators.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace dlc;

namespace dlc {

namespace {
enum class Aspect { Stretch, NotLarger, NotSmaller };

struct ResizeArguments {
  std::vector<int64_t> axes; ///< what scales, sizes and roi speak of
  std::vector<double> scales, roi;
  std::optional<std::vector<Dim>> sizes;
  Aspect aspect = Aspect::Stretch;
};
} // namespace

/// floor(size * factor), as an expression where the factor is a fraction with a
/// small power of two below.
static std::optional<Dim> scaled(const Dim &size, double factor) {
  // ONNX computes it in f32.
  if (std::optional<int64_t> fixed = size.tryConstant())
    return Dim(int64_t(std::floor(float(*fixed) * float(factor))));
  int64_t below = 1;
  while (factor * double(below) != std::floor(factor * double(below))) {
    below *= 2;
    if (below > 1024)
      return std::nullopt;
  }
  return floorDiv(size * Dim(int64_t(factor * double(below))), below);
}

/// Sizes and scales of all dimensions from those that are spoken of.
static std::optional<std::vector<Dim>> resolve(NodeReader &n,
                                               ResizeArguments &a) {
  const Shape &from = n.input(0)->type().shape;
  std::vector<Dim> sizes(from.begin(), from.end());
  std::vector<double> scales(from.size(), 1.0);
  size_t count = a.axes.size();
  if (!a.sizes && a.scales.size() != count) {
    n.error("scales has " + llvm::Twine(a.scales.size()) +
            " values, expected " + llvm::Twine(count));
    return std::nullopt;
  }
  if (a.sizes && a.sizes->size() != count) {
    n.error("sizes has " + llvm::Twine(a.sizes->size()) + " values, expected " +
            llvm::Twine(count));
    return std::nullopt;
  }
  if (a.sizes && a.aspect != Aspect::Stretch) {
    // One scale for all: the smallest or largest of those that the sizes give.
    std::optional<double> scale;
    for (size_t i = 0; i < count; ++i) {
      const Dim &has = from[size_t(a.axes[i])], &wants = (*a.sizes)[i];
      if (!has.isConstant() || !wants.isConstant() || has.isConstant(0)) {
        n.error("keep_aspect_ratio_policy needs fixed sizes, the input is " +
                n.input(0)->type().str());
        return std::nullopt;
      }
      double one = double(wants.constant()) / double(has.constant());
      scale = !scale                          ? one
              : a.aspect == Aspect::NotLarger ? std::min(*scale, one)
                                              : std::max(*scale, one);
    }
    a.sizes = std::nullopt;
    for (size_t i = 0; i < count; ++i) {
      size_t d = size_t(a.axes[i]);
      scales[d] = *scale;
      sizes[d] =
          Dim(int64_t(std::floor(*scale * double(from[d].constant()) + 0.5)));
    }
    a.scales = scales;
    return sizes;
  }
  for (size_t i = 0; i < count; ++i) {
    size_t d = size_t(a.axes[i]);
    if (a.sizes) {
      sizes[d] = (*a.sizes)[i];
      if (sizes[d].isConstant() && sizes[d].constant() < 0) {
        n.error("sizes holds " + sizes[d].str() + ", expected 0 or more");
        return std::nullopt;
      }
      continue;
    }
    if (!(a.scales[i] > 0) || a.scales[i] > 1e9) {
      n.error("scales holds " + llvm::formatv("{0}", a.scales[i]).str() +
              ", expected positive numbers");
      return std::nullopt;
    }
    scales[d] = a.scales[i];
    double part = a.roi.empty() ? 1 : a.roi[i + count] - a.roi[i];
    std::optional<Dim> size = scaled(from[d], a.scales[i] * part);
    if (!size) {
      n.error("the scale of the symbolic dimension " + from[d].str() +
              " is no simple fraction: fix the dimension with --shape");
      return std::nullopt;
    }
    sizes[d] = *size;
  }
  a.scales = a.sizes ? std::vector<double>() : scales;
  return sizes;
}

static ResizeMode readMode(NodeReader &n) {
  return n.choice("mode", ResizeMode::Nearest,
                  {{"nearest", ResizeMode::Nearest},
                   {"linear", ResizeMode::Linear},
                   {"cubic", ResizeMode::Cubic}});
}

/// Up to opset 10: coordinates by the scale alone, rounded down.
static void resizeByScales(NodeReader &n, NodeBuilder &b,
                           std::vector<double> scales) {
  Value *x = n.input(0);
  ResizeMode mode = n.choice("mode", ResizeMode::Nearest,
                             {{"nearest", ResizeMode::Nearest},
                              {"linear", ResizeMode::Linear},
                              {"bilinear", ResizeMode::Linear}});
  ResizeArguments a;
  a.axes = countingAxes(0, x->type().rank());
  a.scales = std::move(scales);
  if (n.failed())
    return;
  if (std::optional<std::vector<Dim>> sizes = resolve(n, a))
    n.result(b.emit<ResizeOp>(x, *sizes, a.scales, mode,
                              CoordinateMode::Asymmetric, NearestMode::Floor));
}
void importUpsampleWithAttribute(NodeReader &n, NodeBuilder &b) {
  resizeByScales(n, b, n.reals("scales"));
}
/// Upsample of opset 9 and Resize of opset 10.
void importUpsample(NodeReader &n, NodeBuilder &b) {
  if (std::optional<Constant> scales = n.constant(1, "scales"))
    resizeByScales(n, b, scales->toFloats());
}

void importResize(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  ResizeArguments a;
  ResizeMode mode = readMode(n);
  CoordinateMode coordinates =
      n.choice("coordinate_transformation_mode", CoordinateMode::HalfPixel,
               {{"half_pixel", CoordinateMode::HalfPixel},
                {"half_pixel_symmetric", CoordinateMode::HalfPixelSymmetric},
                {"pytorch_half_pixel", CoordinateMode::PytorchHalfPixel},
                {"align_corners", CoordinateMode::AlignCorners},
                {"asymmetric", CoordinateMode::Asymmetric},
                {"tf_half_pixel_for_nn", CoordinateMode::TfHalfPixelForNn},
                {"tf_crop_and_resize", CoordinateMode::TfCropAndResize}});
  NearestMode nearest =
      n.choice("nearest_mode", NearestMode::RoundPreferFloor,
               {{"round_prefer_floor", NearestMode::RoundPreferFloor},
                {"round_prefer_ceil", NearestMode::RoundPreferCeil},
                {"floor", NearestMode::Floor},
                {"ceil", NearestMode::Ceil}});
  double cubic = n.real("cubic_coeff_a", -0.75);
  bool excludeOutside = n.flag("exclude_outside", false);
  double extrapolation = n.real("extrapolation_value", 0);
  bool antialias = false;
  a.axes = countingAxes(0, x->type().rank());
  if (n.opset() >= 18) {
    antialias = n.flag("antialias", false);
    a.aspect = n.choice("keep_aspect_ratio_policy", Aspect::Stretch,
                        {{"stretch", Aspect::Stretch},
                         {"not_larger", Aspect::NotLarger},
                         {"not_smaller", Aspect::NotSmaller}});
    bool given = n.has("axes");
    std::vector<int64_t> axes = n.integers("axes");
    if (given)
      a.axes = n.normalizeAxes(axes, x->type().rank(), "attribute \"axes\"");
  }
  bool crops = coordinates == CoordinateMode::TfCropAndResize;
  n.input(1); // the region plays no part in the other modes
  if (crops && n.hasInput(1))
    if (std::optional<Constant> roi = n.constant(1, "roi"))
      a.roi = roi->toFloats();
  if (crops && a.roi.size() != 2 * a.axes.size())
    return n.error("roi has " + llvm::Twine(a.roi.size()) +
                   " values, expected " + llvm::Twine(2 * a.axes.size()));
  // An empty tensor stands for an input that is not given.
  auto given = [&](unsigned i) {
    return n.hasInput(i) && n.input(i) &&
           !n.input(i)->type().elementCount().isConstant(0);
  };
  bool hasScales = given(2), hasSizes = given(3);
  if (hasScales == hasSizes)
    return n.error(hasScales ? "has both scales and sizes, expected one of them"
                             : "has neither scales nor sizes");
  if (hasScales) {
    if (std::optional<Constant> scales = n.constant(2, "scales"))
      a.scales = scales->toFloats();
  } else {
    a.sizes = n.dims(3, "sizes");
  }
  if (n.failed())
    return;
  std::optional<std::vector<Dim>> sizes = resolve(n, a);
  if (!sizes)
    return;
  std::vector<double> roi;
  if (crops) {
    size_t rank = sizes->size(), count = a.axes.size();
    roi.assign(rank, 0.0);
    roi.resize(2 * rank, 1.0);
    for (size_t i = 0; i < count; ++i) {
      roi[size_t(a.axes[i])] = a.roi[i];
      roi[rank + size_t(a.axes[i])] = a.roi[i + count];
    }
  }
  n.result(b.emit<ResizeOp>(x, *sizes, a.scales, mode, coordinates, nearest,
                            cubic, excludeOutside, roi, extrapolation,
                            antialias));
}

} // namespace dlc
