// SPDX-License-Identifier: Apache-2.0
// The inputs and expected values that a .dlc test carries in its comments.
#pragma once

#include "ir/reference/Evaluator.h"

namespace dlc {

/// Lines of a text module that dlc-eval reads:
///
///   // input x = [[1, 2.5], [nan, -inf]]
///   // expect y = [] : 0x3
///   // tolerance 1e-6
///   // typed only
///
/// A literal nests as its shape does; a scalar has no brackets, and `: SHAPE`
/// gives a shape that brackets cannot say. It may go on over several comment
/// lines. Element types are those of the graph. Each expected output is
/// compared element by element within the tolerance, relative and absolute;
/// without one, values are equal. Graphs run as typed and, unless `typed only`,
/// in f64.
struct TextCase {
  struct Literal {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<std::string> numbers;
  };
  std::vector<Literal> inputs, expected;
  double tolerance = 0;
  bool typedOnly = false;

  static llvm::Expected<TextCase> parse(llvm::StringRef text);
};

/// Writes the case as arrays for other tools: folder/in/NAME.npy and
/// folder/expected/NAME.npy.
llvm::Error extract(const TextCase &test, const Graph &graph,
                    llvm::StringRef folder);

/// Runs the graph on the case's inputs; an error says which element is wrong.
llvm::Error check(const TextCase &test, const Graph &graph);

} // namespace dlc
