// SPDX-License-Identifier: Apache-2.0
// Where an op comes from.
#include "ir/Location.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace dlc {

Location Location::node(std::string name) {
  Location l;
  l.names = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{std::move(name)});
  return l;
}

Location Location::text(unsigned line, unsigned column) {
  Location l;
  l.lineNumber = line;
  l.columnNumber = column;
  return l;
}

Location Location::join(llvm::ArrayRef<Location> parts) {
  Location l;
  std::vector<std::string> all;
  for (const Location &part : parts) {
    if (!l.names)
      l.names = part.names; // shared as long as nothing is added
    for (const std::string &name : part.nodes())
      if (!llvm::is_contained(all, name))
        all.push_back(name);
    if (!l.lineNumber) {
      l.lineNumber = part.lineNumber;
      l.columnNumber = part.columnNumber;
    }
  }
  if (all.size() != l.nodes().size())
    l.names = std::make_shared<const std::vector<std::string>>(std::move(all));
  return l;
}

llvm::ArrayRef<std::string> Location::nodes() const {
  if (!names)
    return {};
  return *names;
}

/// `conv_1 (Conv)` -> `"conv_1" (Conv)`; a name alone is quoted whole.
static std::string quoteNode(llvm::StringRef node) {
  size_t split = node.rfind(" (");
  if (split == llvm::StringRef::npos || !node.ends_with(")"))
    return "\"" + node.str() + "\"";
  return "\"" + node.substr(0, split).str() + "\"" + node.substr(split).str();
}

std::string Location::str() const {
  llvm::ArrayRef<std::string> list = nodes();
  if (list.empty())
    return lineNumber ? "line " + std::to_string(lineNumber) + ":" +
                            std::to_string(columnNumber)
                      : "";
  std::string result = list.size() == 1 ? "node " : "nodes ";
  for (const std::string &node : list)
    result += (&node == list.begin() ? "" : ", ") + quoteNode(node);
  return result;
}

} // namespace dlc
