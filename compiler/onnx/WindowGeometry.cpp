// SPDX-License-Identifier: Apache-2.0
// Resolves auto_pad and ceil_mode to pads.
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

bool WindowGeometry::isFixed() const {
  auto fixed = [](const Dim &d) { return d.isConstant(); };
  return llvm::all_of(low, fixed) && llvm::all_of(high, fixed);
}

std::vector<int64_t> WindowGeometry::numbers(llvm::ArrayRef<Dim> dims) {
  std::vector<int64_t> result;
  for (const Dim &d : dims)
    result.push_back(d.constant());
  return result;
}

AutoPad dlc::readAutoPad(NodeReader &n) {
  return n.choice("auto_pad", AutoPad::None,
                  {{"NOTSET", AutoPad::None},
                   {"VALID", AutoPad::Valid},
                   {"SAME_UPPER", AutoPad::SameUpper},
                   {"SAME_LOWER", AutoPad::SameLower}});
}

static constexpr int64_t kLargest = int64_t(1) << 31; // no product overflows

static bool hasLength(NodeReader &n, llvm::StringRef name,
                      llvm::ArrayRef<int64_t> values, size_t expected) {
  if (values.size() == expected)
    return true;
  n.error("attribute \"" + name + "\" has " + llvm::Twine(values.size()) +
          " values, expected " + llvm::Twine(expected));
  return false;
}

std::vector<int64_t> dlc::readPerDimension(NodeReader &n, llvm::StringRef name,
                                           size_t dimensions) {
  std::vector<int64_t> values = n.integers(name);
  std::vector<int64_t> ones(dimensions, 1);
  if (values.empty())
    return ones;
  if (!hasLength(n, name, values, dimensions))
    return ones;
  for (int64_t value : values)
    if (value < 1 || value > kLargest) {
      n.error("attribute \"" + name + "\" holds " + llvm::Twine(value) +
              ", expected 1 to " + llvm::Twine(kLargest));
      return ones;
    }
  return values;
}

std::pair<std::vector<int64_t>, std::vector<int64_t>>
dlc::readPads(NodeReader &n, size_t dimensions) {
  std::vector<int64_t> pads = n.integers("pads");
  std::vector<int64_t> zeros(dimensions, 0);
  if (pads.empty() || !hasLength(n, "pads", pads, 2 * dimensions))
    return {zeros, zeros};
  for (int64_t pad : pads)
    if (pad < 0 || pad > kLargest) {
      n.error("attribute \"pads\" holds " + llvm::Twine(pad) +
              ", expected 0 to " + llvm::Twine(kLargest));
      return {zeros, zeros};
    }
  return {{pads.begin(), pads.begin() + int64_t(dimensions)},
          {pads.begin() + int64_t(dimensions), pads.end()}};
}

std::optional<WindowGeometry>
dlc::readWindow(NodeReader &n, llvm::ArrayRef<Dim> spatial,
                std::vector<int64_t> kernel, bool hasDilations, bool ceilMode) {
  WindowGeometry g;
  size_t count = spatial.size();
  g.kernel = std::move(kernel);
  g.strides = readPerDimension(n, "strides", count);
  g.dilations = hasDilations ? readPerDimension(n, "dilations", count)
                             : std::vector<int64_t>(count, 1);
  AutoPad automatic = readAutoPad(n);
  auto [low, high] = readPads(n, count);
  for (int64_t k : g.kernel)
    if (k < 1 || k > kLargest)
      n.error("the kernel has size " + llvm::Twine(k) + ", expected 1 to " +
              llvm::Twine(kLargest));
  if (n.failed())
    return std::nullopt;
  const KnownValues &known = n.context.known;
  for (size_t i = 0; i < count; ++i) {
    int64_t stride = g.strides[i];
    int64_t extent = (g.kernel[i] - 1) * g.dilations[i] + 1;
    Dim before(low[i]), after(high[i]), extra(0);
    if (automatic != AutoPad::None)
      before = after = Dim(0);
    if (automatic == AutoPad::SameUpper || automatic == AutoPad::SameLower) {
      // ceil(in / stride) windows, what is missing split between both ends.
      Dim total =
          stride == 1
              ? Dim(extent - 1)
              : known.atLeast((ceilDiv(spatial[i], stride) - 1) * stride +
                                  extent - spatial[i],
                              0);
      Dim less = floorDiv(total, 2);
      before = automatic == AutoPad::SameUpper ? less : total - less;
      after = total - before;
    } else if (ceilMode) {
      // Windows start inside the input or its begin padding.
      Dim padded = spatial[i] + before + after;
      Dim windows = min(ceilDiv(padded - extent, stride) + 1,
                        ceilDiv(spatial[i] + before, stride));
      extra = known.atLeast((windows - 1) * stride + extent - padded, 0);
      after = after + extra;
    }
    g.low.push_back(before);
    g.high.push_back(after);
    g.ceilExtra.push_back(extra);
  }
  return g;
}
