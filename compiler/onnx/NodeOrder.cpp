// SPDX-License-Identifier: Apache-2.0
// Depth-first order of an ONNX graph.
#include "compiler/onnx/NodeOrder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace dlc;

Location dlc::nodeLocation(const onnx::NodeProto &node) {
  std::string name = node.name();
  for (const std::string &output : node.output())
    if (name.empty())
      name = output;
  name += " (" + node.op_type() + ")";
  // It is printed, also into comments of one line.
  for (char &c : name)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return Location::node(name);
}

namespace {

using Names = std::vector<llvm::StringRef>;

void collectOuterNames(const onnx::GraphProto &graph, Names &names);

/// Names that a node reads, those in its subgraphs included.
void collectNames(const onnx::NodeProto &node, Names &names) {
  for (const std::string &input : node.input())
    if (!input.empty())
      names.push_back(input);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      collectOuterNames(attribute.g(), names);
    for (const onnx::GraphProto &graph : attribute.graphs())
      collectOuterNames(graph, names);
  }
}

void collectOuterNames(const onnx::GraphProto &graph, Names &names) {
  llvm::StringSet<> own;
  for (const onnx::ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      own.insert(output);
  Names all;
  for (const onnx::NodeProto &node : graph.node())
    collectNames(node, all);
  for (const onnx::ValueInfoProto &output : graph.output())
    all.push_back(output.name());
  for (llvm::StringRef name : all)
    if (!own.contains(name))
      names.push_back(name);
}

} // namespace

std::optional<std::vector<int>> dlc::nodeOrder(const onnx::GraphProto &graph,
                                               Diagnostics &diagnostics) {
  llvm::StringMap<int> producers;
  bool good = true;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &output : graph.node(i).output()) {
      if (output.empty() || producers.try_emplace(output, i).second)
        continue;
      diagnostics.error(nodeLocation(graph.node(i)),
                        "the name \"" + output +
                            "\" is produced twice, also by " +
                            nodeLocation(graph.node(producers[output])).str());
      good = false;
    }
  if (!good)
    return std::nullopt;

  // What each node waits for.
  std::vector<std::vector<int>> waitsFor(size_t(graph.node_size()));
  for (int i = 0; i < graph.node_size(); ++i) {
    Names names;
    collectNames(graph.node(i), names);
    for (llvm::StringRef name : names) {
      auto producer = producers.find(name);
      if (producer != producers.end())
        waitsFor[size_t(i)].push_back(producer->second);
    }
  }
  std::vector<bool> live(size_t(graph.node_size()), false);
  std::vector<int> stack;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    auto producer = producers.find(output.name());
    if (producer != producers.end())
      stack.push_back(producer->second);
  }
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    if (live[size_t(node)])
      continue;
    live[size_t(node)] = true;
    stack.insert(stack.end(), waitsFor[size_t(node)].begin(),
                 waitsFor[size_t(node)].end());
  }

  enum class Mark : uint8_t { New, Open, Done };
  std::vector<Mark> marks(size_t(graph.node_size()), Mark::New);
  std::vector<int> order;
  std::vector<std::pair<int, size_t>> path; // node, next of what it waits for
  for (int start = 0; start < graph.node_size(); ++start) {
    if (!live[size_t(start)] || marks[size_t(start)] != Mark::New)
      continue;
    marks[size_t(start)] = Mark::Open;
    path.push_back({start, 0});
    while (!path.empty()) {
      auto &[node, next] = path.back();
      if (next == waitsFor[size_t(node)].size()) {
        marks[size_t(node)] = Mark::Done;
        order.push_back(node);
        path.pop_back();
        continue;
      }
      int other = waitsFor[size_t(node)][next++];
      if (marks[size_t(other)] == Mark::New) {
        marks[size_t(other)] = Mark::Open;
        path.push_back({other, 0});
      } else if (marks[size_t(other)] == Mark::Open) {
        std::string cycle;
        bool inside = false;
        for (auto &[member, unused] : path) {
          inside |= member == other;
          if (inside)
            cycle += nodeLocation(graph.node(member)).str() + ", ";
        }
        diagnostics.error(nodeLocation(graph.node(other)),
                          "the graph has a cycle: " + cycle + "and again " +
                              nodeLocation(graph.node(other)).str());
        return std::nullopt;
      }
    }
  }
  return order;
}
