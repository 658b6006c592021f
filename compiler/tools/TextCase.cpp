// SPDX-License-Identifier: Apache-2.0
// Reads and checks the test cases in the comments of text modules.
#include "compiler/tools/TextCase.h"
#include "compiler/tools/TensorFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace dlc {

using llvm::StringRef;
using reference::Precision;
using reference::Tensor;
using Literal = TextCase::Literal;

static llvm::Error fault(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

namespace {

/// Reads one nested list of numbers; the shape grows as brackets open.
class LiteralReader {
public:
  LiteralReader(StringRef text, Literal &literal)
      : text(text.ltrim()), literal(literal) {}

  bool read() {
    if (!list(0))
      return false;
    if (text.ltrim().empty())
      return true;
    // ": 0x3"
    text = text.ltrim();
    if (!text.consume_front(":"))
      return false;
    literal.shape.clear();
    int64_t count = 1;
    for (StringRef part : llvm::split(text.trim(), "x")) {
      int64_t size;
      if (part.getAsInteger(10, size))
        return false;
      literal.shape.push_back(size);
      count *= size;
    }
    return count == int64_t(literal.numbers.size());
  }

private:
  bool list(size_t depth) {
    text = text.ltrim();
    if (!text.consume_front("[")) {
      size_t length = text.find_first_of(",] \t\n:");
      StringRef number = text.take_front(length);
      text = text.drop_front(number.size());
      literal.numbers.push_back(number.str());
      // Numbers stand at one depth: that of the whole shape.
      return !number.empty() && depth == literal.shape.size();
    }
    bool first = literal.shape.size() == depth;
    if (first && !literal.numbers.empty())
      return false;
    if (first)
      literal.shape.push_back(-1);
    int64_t count = 0;
    for (text = text.ltrim(); !text.consume_front("]"); text = text.ltrim()) {
      if (count++ && !text.consume_front(","))
        return false;
      if (!list(depth + 1))
        return false;
    }
    if (literal.shape[depth] < 0)
      literal.shape[depth] = count;
    return literal.shape[depth] == count;
  }

  StringRef text;
  Literal &literal;
};

llvm::Expected<Tensor> tensorOf(const Literal &literal, DataType element) {
  Tensor tensor(element, literal.shape);
  for (size_t i = 0; i < literal.numbers.size(); i++) {
    StringRef number = literal.numbers[i];
    double value;
    int64_t integer;
    uint64_t natural;
    if (number == "true" || number == "false") {
      tensor.setInt(int64_t(i), number == "true");
    } else if (!isFloat(element) && !number.getAsInteger(0, integer)) {
      tensor.setInt(int64_t(i), integer);
    } else if (!isFloat(element) && !number.getAsInteger(0, natural)) {
      tensor.setInt(int64_t(i), int64_t(natural));
    } else if (isFloat(element) && (number == "inf" || number == "-inf")) {
      tensor.setFloat(int64_t(i), number == "inf" ? HUGE_VAL : -HUGE_VAL);
    } else if (isFloat(element) && number == "nan") {
      tensor.setFloat(int64_t(i), NAN);
    } else if (isFloat(element) && !number.getAsDouble(value)) {
      tensor.setFloat(int64_t(i), value);
    } else {
      return fault(literal.name + ": \"" + number + "\" is no " +
                   stringify(element));
    }
  }
  return tensor;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t d : shape)
    text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

bool close(double value, double expected, double tolerance) {
  if (std::isnan(value) || std::isnan(expected))
    return std::isnan(value) && std::isnan(expected);
  if (value == expected)
    return true;
  return std::fabs(value - expected) <=
         tolerance * std::max(1.0, std::fabs(expected));
}

llvm::Error compare(const Tensor &value, const Literal &literal,
                    DataType element, double tolerance) {
  llvm::Expected<Tensor> expected = tensorOf(literal, element);
  if (!expected)
    return expected.takeError();
  if (value.shape() != expected->shape())
    return fault(literal.name + ": shape " + shapeText(value.shape()) +
                 ", expected " + shapeText(expected->shape()));
  for (int64_t i = 0; i < value.elements(); i++) {
    bool floats = isFloat(element);
    bool same = floats
                    ? close(value.floatAt(i), expected->floatAt(i), tolerance)
                    : value.intAt(i) == expected->intAt(i);
    if (same)
      continue;
    std::string found = floats ? llvm::formatv("{0:f9}", value.floatAt(i)).str()
                               : std::to_string(value.intAt(i));
    return fault(literal.name + ": element " + llvm::Twine(i) + " is " + found +
                 ", expected " + literal.numbers[i]);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<TextCase> TextCase::parse(StringRef text) {
  TextCase result;
  llvm::SmallVector<StringRef, 0> lines;
  text.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); i++) {
    StringRef line = lines[i].trim();
    if (!line.consume_front("// "))
      continue;
    bool isInput = line.consume_front("input ");
    bool isExpected = !isInput && line.consume_front("expect ");
    if (line.trim() == "typed only")
      result.typedOnly = true;
    if (line.consume_front("tolerance ") &&
        line.trim().getAsDouble(result.tolerance))
      return fault("line " + llvm::Twine(i + 1) + ": no number: " + line);
    if (!isInput && !isExpected)
      continue;
    auto [name, value] = line.split('=');
    std::string whole = value.str();
    size_t first = i;
    auto isOpen = [&] {
      return llvm::count(whole, '[') > llvm::count(whole, ']');
    };
    while (isOpen() && i + 1 < lines.size()) {
      StringRef next = lines[i + 1].trim();
      if (!next.consume_front("//"))
        break;
      whole += " " + next.str();
      i++;
    }
    Literal literal{name.trim().str(), {}, {}};
    if (!LiteralReader(whole, literal).read())
      return fault("line " + llvm::Twine(first + 1) + ": " + name.trim() +
                   " is not a nested list of numbers of one shape");
    (isInput ? result.inputs : result.expected).push_back(std::move(literal));
  }
  return result;
}

static const Literal *findLiteral(llvm::ArrayRef<Literal> all, StringRef name) {
  const Literal *found =
      llvm::find_if(all, [&](const Literal &l) { return l.name == name; });
  return found == all.end() ? nullptr : found;
}

llvm::Error extract(const TextCase &test, const Graph &graph,
                    StringRef folder) {
  auto write = [&](llvm::ArrayRef<Literal> literals, StringRef name,
                   DataType element, StringRef kind) -> llvm::Error {
    const Literal *literal = findLiteral(literals, name);
    if (!literal)
      return llvm::Error::success();
    llvm::Expected<Tensor> tensor = tensorOf(*literal, element);
    if (!tensor)
      return tensor.takeError();
    std::string place = (folder + "/" + kind).str();
    if (std::error_code error = llvm::sys::fs::create_directories(place))
      return fault(place + ": " + error.message());
    return writeNpy(npyPath(place, name), *tensor);
  };
  for (unsigned i = 0; i < graph.numInputs(); i++)
    if (llvm::Error e = write(test.inputs, graph.input(i)->name,
                              graph.input(i)->type().element, "in"))
      return e;
  for (size_t i = 0; i < graph.outputNames.size(); i++)
    if (llvm::Error e = write(test.expected, graph.outputNames[i],
                              graph.outputs()[i]->type().element, "expected"))
      return e;
  return llvm::Error::success();
}

llvm::Error check(const TextCase &test, const Graph &graph) {
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    const Value &input = *graph.input(i);
    const Literal *given = findLiteral(test.inputs, input.name);
    if (!given)
      return fault("no line \"// input " + input.name + " = ...\"");
    llvm::Expected<Tensor> tensor = tensorOf(*given, input.type().element);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  for (const Literal &literal : test.expected)
    if (!llvm::is_contained(graph.outputNames, literal.name))
      return fault("the graph has no output \"" + literal.name + "\"");
  if (test.expected.empty())
    return fault("no line \"// expect NAME = ...\"");

  for (Precision precision : {Precision::AsTyped, Precision::Double}) {
    bool isDouble = precision == Precision::Double;
    if (isDouble && test.typedOnly)
      break;
    llvm::Expected<std::vector<Tensor>> outputs =
        reference::evaluate(graph, inputs, precision);
    if (!outputs)
      return outputs.takeError();
    for (size_t i = 0; i < outputs->size(); i++) {
      const Literal *wanted = findLiteral(test.expected, graph.outputNames[i]);
      if (!wanted)
        continue;
      // Literals are written for the typed run.
      double tolerance =
          isDouble ? std::max(test.tolerance, 1e-6) : test.tolerance;
      if (llvm::Error e =
              compare((*outputs)[i], *wanted,
                      graph.outputs()[i]->type().element, tolerance))
        return isDouble ? fault("in f64: " + llvm::toString(std::move(e)))
                        : std::move(e);
    }
  }
  return llvm::Error::success();
}

} // namespace dlc
