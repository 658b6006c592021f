// SPDX-License-Identifier: Apache-2.0
// Dimension expressions: structure, order, evaluation and text.
#include "ir/Dim.h"

#include "ir/Check.h"
#include "ir/DimBuilder.h"
#include "llvm/ADT/StringSet.h"

namespace dlc {

Dim::Dim(int64_t value) : value(value) {}

Dim Dim::symbol(llvm::StringRef name) { return DimBuilder::symbol(name); }

Dim::Kind Dim::kind() const { return node ? node->kind : Kind::Constant; }

int64_t Dim::constant() const {
  DLC_CHECK(isConstant()) << "not a constant: " << *this;
  return value;
}

std::optional<int64_t> Dim::tryConstant() const {
  if (isConstant())
    return value;
  return std::nullopt;
}

llvm::StringRef Dim::symbolName() const {
  DLC_CHECK(kind() == Kind::Symbol) << "not a symbol: " << *this;
  return node->name;
}

llvm::ArrayRef<Dim> Dim::operands() const {
  if (!node)
    return {};
  return node->operands;
}

bool operator==(const Dim &a, const Dim &b) {
  if (a.node == b.node)
    return a.node || a.value == b.value;
  return Dim::compare(a, b) == 0;
}

/// Constants come last, so that they end a sum and a product.
static int rank(Dim::Kind kind) {
  switch (kind) {
  case Dim::Kind::Symbol:
    return 0;
  case Dim::Kind::FloorDiv:
    return 1;
  case Dim::Kind::CeilDiv:
    return 2;
  case Dim::Kind::Mod:
    return 3;
  case Dim::Kind::Max:
    return 4;
  case Dim::Kind::Min:
    return 5;
  case Dim::Kind::Mul:
    return 6;
  case Dim::Kind::Add:
    return 7;
  case Dim::Kind::Constant:
    return 8;
  case Dim::Kind::Overflow:
    return 9;
  }
  return 10;
}

int Dim::compare(const Dim &a, const Dim &b) {
  if (a.kind() != b.kind())
    return rank(a.kind()) < rank(b.kind()) ? -1 : 1;
  if (a.isConstant())
    return a.value < b.value ? -1 : a.value > b.value;
  if (a.node == b.node)
    return 0;
  if (int c = a.node->name.compare(b.node->name))
    return c < 0 ? -1 : 1;
  llvm::ArrayRef<Dim> x = a.operands(), y = b.operands();
  for (size_t i = 0; i != std::min(x.size(), y.size()); ++i)
    if (int c = compare(x[i], y[i]))
      return c;
  return x.size() < y.size() ? -1 : x.size() > y.size();
}

std::optional<int64_t> Dim::evaluate(
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const {
  if (isConstant())
    return value;
  if (kind() == Kind::Symbol)
    return lookup(node->name);
  if (kind() == Kind::Overflow)
    return std::nullopt;
  // Plain values: the public functions then fold and find overflow.
  Dim result;
  for (const Dim &operand : operands()) {
    std::optional<int64_t> v = operand.evaluate(lookup);
    if (!v)
      return std::nullopt;
    if (&operand == operands().begin()) {
      result = *v;
      continue;
    }
    switch (kind()) {
    case Kind::Add:
      result = result + *v;
      break;
    case Kind::Mul:
      result = result * *v;
      break;
    case Kind::FloorDiv:
      result = floorDiv(result, *v);
      break;
    case Kind::CeilDiv:
      result = ceilDiv(result, *v);
      break;
    case Kind::Mod:
      result = mod(result, *v);
      break;
    case Kind::Max:
      result = max(result, *v);
      break;
    case Kind::Min:
      result = min(result, *v);
      break;
    case Kind::Constant:
    case Kind::Symbol:
    case Kind::Overflow:
      break;
    }
  }
  return result.tryConstant();
}

Dim Dim::substitute(
    llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) const {
  if (isConstant() || kind() == Kind::Overflow)
    return *this;
  if (kind() == Kind::Symbol)
    return lookup(node->name).value_or(*this);
  llvm::SmallVector<Dim, 4> parts;
  for (const Dim &operand : operands())
    parts.push_back(operand.substitute(lookup));
  if (llvm::ArrayRef<Dim>(parts) == operands())
    return *this;
  switch (kind()) {
  case Kind::FloorDiv:
    return floorDiv(parts[0], parts[1]);
  case Kind::CeilDiv:
    return ceilDiv(parts[0], parts[1]);
  case Kind::Mod:
    return mod(parts[0], parts[1]);
  case Kind::Max:
    return max(parts[0], parts[1]);
  case Kind::Min:
    return min(parts[0], parts[1]);
  default:
    break;
  }
  Dim result = parts[0];
  for (const Dim &part : llvm::ArrayRef<Dim>(parts).drop_front())
    result = kind() == Kind::Add ? result + part : result * part;
  return result;
}

static void visitSymbols(const Dim &d, llvm::StringSet<> &seen,
                         llvm::function_ref<void(llvm::StringRef)> fn) {
  if (d.kind() == Dim::Kind::Symbol) {
    if (seen.insert(d.symbolName()).second)
      fn(d.symbolName());
    return;
  }
  for (const Dim &operand : d.operands())
    visitSymbols(operand, seen, fn);
}

void Dim::forEachSymbol(llvm::function_ref<void(llvm::StringRef)> fn) const {
  if (isConstant())
    return;
  llvm::StringSet<> seen;
  visitSymbols(*this, seen, fn);
}

static void printProduct(const Dim &d, llvm::raw_ostream &os) {
  llvm::ArrayRef<Dim> factors = d.operands();
  if (factors.back().isConstant()) {
    if (factors.back().isConstant(-1))
      os << "-";
    else
      os << factors.back() << "*";
    factors = factors.drop_back();
  }
  for (const Dim &factor : factors) {
    if (&factor != factors.begin())
      os << "*";
    if (factor.kind() == Dim::Kind::Add)
      os << "(" << factor << ")";
    else
      os << factor;
  }
}

void Dim::print(llvm::raw_ostream &os) const {
  auto call = [&](llvm::StringRef name) {
    os << name << "(" << operands()[0] << ", " << operands()[1] << ")";
  };
  switch (kind()) {
  case Kind::Constant:
    os << value;
    return;
  case Kind::Symbol:
    os << '"';
    os.write_escaped(node->name) << '"';
    return;
  case Kind::Overflow:
    os << "overflow";
    return;
  case Kind::FloorDiv:
    return call("floordiv");
  case Kind::CeilDiv:
    return call("ceildiv");
  case Kind::Mod:
    return call("mod");
  case Kind::Max:
    return call("max");
  case Kind::Min:
    return call("min");
  case Kind::Mul:
    return printProduct(*this, os);
  case Kind::Add:
    break;
  }
  for (const Dim &term : operands()) {
    std::string text = term.str();
    if (&term != operands().begin() && text[0] != '-')
      os << "+";
    os << text;
  }
}

std::string Dim::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

Dim elementCount(llvm::ArrayRef<Dim> shape) {
  Dim count = 1;
  for (const Dim &d : shape) {
    if (d.isConstant(0))
      return 0; // whatever the others are
    count = count * d;
  }
  return count;
}

Proof operator&&(Proof a, Proof b) { return std::min(a, b); }

Proof provedEqual(const Dim &a, const Dim &b) {
  Dim difference = a - b;
  if (difference.overflowed())
    return Proof::Unknown;
  if (difference.isConstant())
    return proof(difference.isConstant(0));
  return Proof::Unknown;
}

} // namespace dlc
