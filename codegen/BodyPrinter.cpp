// SPDX-License-Identifier: Apache-2.0
// Prints a fusion's body as straight-line device code: coordinates, guards,
// loads and stores. The ops are in BodyOps.cpp.
#include "codegen/BodyPrinter.h"

#include <numeric>

using namespace dlc;
using namespace dlc::codegen;

BodyPrinter::BodyPrinter(KernelBuilder &kernel, int64_t vector)
    : kernel(kernel), index(kernel.index()), vector(vector) {
  laneDim = 0;
  if (vector > 1) {
    laneDim = index.declare("%e", vector, [] { return "e"; });
    perLaneSymbols["%e"] = true;
  }
}

std::string BodyPrinter::fail(const llvm::Twine &sentence) {
  if (failure.empty())
    failure = sentence.str();
  return "0";
}

llvm::Error BodyPrinter::takeError() {
  if (failure.empty())
    return llvm::Error::success();
  return refuse(failure);
}

//===--- Coordinates ------------------------------------------------------===//

bool BodyPrinter::isPerLane(const Dim &d) const {
  bool found = false;
  d.forEachSymbol([&](llvm::StringRef s) {
    auto it = perLaneSymbols.find(s);
    found |= it != perLaneSymbols.end() && it->second;
  });
  return found;
}

bool BodyPrinter::isPerLane(const Coordinates &at) const {
  return llvm::any_of(at.index, [&](const Dim &d) { return isPerLane(d); });
}

Dim BodyPrinter::coordinate(llvm::StringRef name, const Dim &extent,
                            bool perLane) {
  std::string symbol = "%" + name.str();
  perLaneSymbols[symbol] = perLane;
  std::string text = name.str();
  return index.declare(symbol, extent, [text] { return text; });
}

Dim BodyPrinter::firstLane(llvm::StringRef name, const Dim &extent) {
  Dim first = coordinate(name, extent - (vector - 1));
  if (vector > 1)
    index.requireMultiple("%" + name.str(), vector);
  return first;
}

Dim BodyPrinter::derived(llvm::StringRef name, const Dim &extent,
                         const Dim &value) {
  if (extent.isConstant(1))
    return 0;
  std::string symbol = "%" + name.str(), text = name.str();
  bool perLane = isPerLane(value);
  perLaneSymbols[symbol] = perLane;
  auto done = std::make_shared<bool>(false);
  return index.declare(symbol, extent, [=, this] {
    if (!*done) {
      *done = true;
      std::string v = index.print(value);
      (perLane ? lanes : before) += "const Index " + text + " = " + v + ";\n";
    }
    return text;
  });
}

int64_t codegen::innermostDimension(const TensorType &type) {
  if (type.rank() == 0 || !type.layout.isUnsplit())
    return -1;
  llvm::SmallVector<int64_t, 6> order = type.layout.order(type.rank());
  for (int64_t d : llvm::reverse(order))
    if (!type.shape[d].isConstant(1))
      return d;
  return order.back();
}

Coordinates BodyPrinter::decode(const TensorType &type, const Dim &base,
                                bool rows, llvm::StringRef prefix) {
  Coordinates at;
  // Padding is in memory, but is not counted.
  if (type.layout.isPermutation()) {
    at.layout = type.layout;
    at.linear = base + laneDim;
  }
  int64_t rank = type.rank();
  at.index.assign(rank, Dim(0));
  llvm::SmallVector<int64_t, 6> order = type.layout.order(rank);
  Dim linear = rows ? base : base + laneDim;
  Dim stride = 1;
  int64_t innermost = innermostDimension(type);
  for (int64_t i = rank - 1; i >= 0; i--) {
    int64_t d = order[i];
    const Dim &extent = type.shape[d];
    Dim value = floorDiv(linear, stride);
    // The outermost needs no remainder.
    if (llvm::any_of(llvm::ArrayRef(order).take_front(i),
                     [&](int64_t o) { return !type.shape[o].isConstant(1); }))
      value = mod(value, extent);
    // A row's vectors start at multiples of their width and end inside it.
    bool inner = rows && d == innermost;
    std::string name = (prefix + llvm::Twine(d)).str();
    at.index[d] = derived(name, inner ? extent - (vector - 1) : extent, value);
    if (inner) {
      if (!at.index[d].isConstant())
        index.requireMultiple("%" + name, vector);
      at.index[d] = at.index[d] + laneDim;
    }
    stride = stride * extent;
  }
  return at;
}

Coordinates BodyPrinter::operandAt(const Value *operand,
                                   const TensorType &result,
                                   const Coordinates &at) {
  if (operand->type().shape == result.shape)
    return at;
  return {broadcastIndex(operand->type().shape, at.index), std::nullopt, {}};
}

Dim BodyPrinter::shortened(const Dim &d) {
  constexpr unsigned few = 3;
  if (!nameSums || d.kind() != Dim::Kind::Add || d.operands().size() <= few)
    return d;
  // d is factor * sum + rest, the sum without coordinates.
  auto coefficient = [](const Dim &term) {
    int64_t product = 1;
    if (term.kind() == Dim::Kind::Mul)
      for (const Dim &f : term.operands())
        product *= f.tryConstant().value_or(1);
    return product;
  };
  Dim rest = 0;
  int64_t factor = 0;
  llvm::SmallVector<Dim, 8> terms;
  for (const Dim &t : d.operands()) {
    bool sizes = true;
    t.forEachSymbol([&](llvm::StringRef s) { sizes &= !s.starts_with("%"); });
    if (t.isConstant() || !sizes) {
      rest = rest + t;
      continue;
    }
    terms.push_back(t);
    factor = std::gcd(factor, coefficient(t));
  }
  if (terms.size() <= few)
    return d;
  if (coefficient(terms[0]) < 0)
    factor = -factor;
  Dim sum = 0;
  for (const Dim &t : terms) {
    Dim product = coefficient(t) / factor;
    for (const Dim &f :
         t.kind() == Dim::Kind::Mul ? t.operands() : llvm::ArrayRef(t))
      if (!f.isConstant())
        product = product * f;
    sum = sum + product;
  }
  auto it = llvm::find_if(sums, [&](const auto &s) { return s.first == sum; });
  if (it == sums.end()) {
    Dim value = sum;
    if (!sums.empty())
      if (Dim more = sum - sums.back().first;
          more.kind() != Dim::Kind::Add ||
          more.operands().size() < terms.size())
        value = sums.back().second + more;
    std::string name = "s" + std::to_string(sums.size());
    before += "const Index " + name + " = " + index.print(value) + ";\n";
    sums.push_back({sum, index.declareAny("%" + name, [=] { return name; })});
    it = &sums.back();
  }
  return rest + factor * it->second;
}

Dim BodyPrinter::offset(const TensorType &type, const Coordinates &at) {
  if (at.linear && at.layout == type.layout)
    return index.simplify(*at.linear);
  return index.simplify(type.layout.offset(type.shape, at.index));
}

//===--- Statements -------------------------------------------------------===//

std::string BodyPrinter::define(const std::string &type,
                                const std::string &expression, bool perLane) {
  std::string name = "v" + std::to_string(names++);
  // What is read under a guard of the lane's is the lane's as well.
  (perLane || guardsPerLane() ? lanes : before) +=
      "const " + type + " " + name + " = " + expression + ";\n";
  return name;
}

bool BodyPrinter::guardsPerLane() const {
  return llvm::any_of(guards, [](const Guard &g) { return g.perLane; });
}

std::string BodyPrinter::guardText() const {
  std::string text;
  for (const Guard &g : guards)
    text += (text.empty() ? "" : " && ") + g.text;
  return text;
}

std::string BodyPrinter::rangesText(llvm::ArrayRef<IndexRange> ranges,
                                    bool &perLane) {
  std::string text;
  auto add = [&](const std::string &t) {
    text += (text.empty() ? "" : " && ") + t;
  };
  for (const IndexRange &r : ranges) {
    Dim value = index.simplify(r.value), low = index.simplify(r.lower),
        high = index.simplify(r.upper);
    // Bounds at multiples of V hold for all lanes or for none.
    if (vector > 1 && index.isMultiple(low, vector) &&
        index.isMultiple(high, vector))
      if (std::optional<Dim> first = contiguous(value, vector))
        value = *first;
    bool above = index.isNonNegative(value - low);
    bool below = index.isBelow(value, high);
    if (!above)
      add(offsetText(value) + " >= " + index.print(shortened(low)));
    if (!below)
      add(offsetText(value) + " < " + index.print(shortened(high)));
    if (!above || !below)
      perLane |= isPerLane(value) || isPerLane(low) || isPerLane(high);
  }
  return text;
}

std::optional<Dim> BodyPrinter::contiguous(const Dim &offset,
                                           int64_t alignment) const {
  Dim first = index.simplify(
      offset.substitute([](llvm::StringRef s) -> std::optional<Dim> {
        if (s == "%e")
          return Dim(0);
        return std::nullopt;
      }));
  if (isPerLane(first) || index.simplify(offset - first) != laneDim ||
      !index.isMultiple(first, alignment))
    return std::nullopt;
  return first;
}

std::string BodyPrinter::load(const std::string &pointer,
                              const TensorType &type, const Coordinates &at,
                              bool isWeight) {
  if (!isStored(type.element))
    return fail("no kernel reads elements of type " + stringify(type.element));
  std::string suffix = isWeight ? "_weight" : "";
  std::string guard = guardText();
  auto under = [&](const std::string &read, const std::string &zero) {
    return guard.empty() ? read : "(" + guard + ") ? " + read + " : " + zero;
  };
  Dim off = offset(type, at);
  std::string compute = computeName(type.element).str();
  bool perLane = isPerLane(off) || guardsPerLane();
  if (isPerLane(off) && !guardsPerLane())
    if (std::optional<Dim> first = contiguous(off, vector)) {
      std::string vec =
          keepStored ? "Lanes<" + storageName(type.element).str() + ", V>"
                     : "Vec<" + compute + ", V>";
      std::string call = keepStored ? "fetch" : "load";
      std::string v = define(vec,
                             under(call + suffix + "<V>(" + pointer + ", " +
                                       offsetText(*first) + ")",
                                   vec + "{}"),
                             false);
      return v + "[e]";
    }
  return define(
      compute,
      under("load" + suffix + "(" + pointer + ", " + offsetText(off) + ")",
            compute + "(0)"),
      perLane);
}

void BodyPrinter::store(unsigned output, const Coordinates &at) {
  const Value *v = kernel.unit().body().outputs()[output];
  const TensorType &type = kernel.unit().resultType(output);
  if (!isStored(type.element)) {
    fail("no kernel writes elements of type " + stringify(type.element));
    return;
  }
  std::string x = value(v, at);
  std::string pointer = kernel.result(output);
  Dim off = offset(type, at);
  if (vector > 1)
    if (std::optional<Dim> first = contiguous(off, vector)) {
      std::string name = "y" + std::to_string(output);
      std::string compute = computeName(type.element).str();
      results += "Vec<" + compute + ", V> " + name + ";\n";
      lanes += name + "[e] = " + x + ";\n";
      after += "store<V>(" + pointer + ", " + index.print(*first) + ", " +
               name + ");\n";
      return;
    }
  lanes += "store(" + pointer + ", " + index.print(off) + ", " + x + ");\n";
}

static std::string indented(llvm::StringRef lines, const std::string &prefix) {
  std::string text;
  while (!lines.empty()) {
    auto [line, rest] = lines.split('\n');
    text += prefix + line.str() + "\n";
    lines = rest;
  }
  return text;
}

std::string BodyPrinter::takeLoads(unsigned indent) {
  std::string text = indented(before, std::string(indent, ' '));
  before.clear();
  return text;
}

std::string BodyPrinter::take(unsigned indent) {
  std::string pad(indent, ' '), text;
  auto add = [&](llvm::StringRef lines, const std::string &prefix) {
    text += indented(lines, prefix);
  };
  add(before, pad);
  add(results, pad);
  if (vector > 1 && !lanes.empty()) {
    text += pad + "DLC_UNROLL\n" + pad + "for (int e = 0; e < V; e++) {\n";
    add(lanes, pad + "  ");
    text += pad + "}\n";
  } else {
    add(lanes, pad);
  }
  add(after, pad);
  before.clear();
  results.clear();
  lanes.clear();
  after.clear();
  memo.clear();
  sums.clear();
  return text;
}
