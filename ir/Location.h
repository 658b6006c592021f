// SPDX-License-Identifier: Apache-2.0
// Where an op comes from.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <string>
#include <vector>

namespace dlc {

/// The ONNX nodes that an op stands for, as `name (Operator)`; fusing joins the
/// lists. For modules parsed from text also line and column. Cheap to copy.
class Location {
public:
  Location() = default;
  static Location node(std::string name);
  static Location text(unsigned line, unsigned column);
  static Location
  join(llvm::ArrayRef<Location> parts); ///< order kept, no repeats
  llvm::ArrayRef<std::string> nodes() const;
  unsigned line() const { return lineNumber; }
  unsigned column() const { return columnNumber; }
  /// `node "conv_1" (Conv)`, or `line 3:7`, or "" when nothing is known.
  std::string str() const;

private:
  std::shared_ptr<const std::vector<std::string>> names;
  unsigned lineNumber = 0, columnNumber = 0;
};

} // namespace dlc
