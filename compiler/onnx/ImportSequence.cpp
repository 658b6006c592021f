// SPDX-License-Identifier: Apache-2.0
// Sequences whose lengths and positions are known: they exist at import only.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// A value that stands for the list; no op that is emitted ever uses it.
static Value *standIn(NodeReader &n, NodeBuilder &b,
                      std::vector<Value *> parts) {
  Value *value = b.scalar(DataType::Bool, 0);
  if (value)
    n.context.sequences[value] = std::move(parts);
  return value;
}

static const std::vector<Value *> *sequence(NodeReader &n, unsigned i) {
  auto found = n.context.sequences.find(n.input(i));
  if (found != n.context.sequences.end())
    return &found->second;
  n.error("input " + llvm::Twine(i) + " is " + n.input(i)->type().str() +
          ", expected a sequence");
  return nullptr;
}

/// A position that is known, counted from the end where negative.
static std::optional<size_t> position(NodeReader &n, unsigned i, size_t size,
                                      size_t most) {
  std::optional<std::vector<int64_t>> given = n.ints(i, "position");
  if (!given)
    return std::nullopt;
  int64_t at = given->size() == 1 ? given->front() : int64_t(most) + 1;
  if (at < 0)
    at += int64_t(size);
  if (at < 0 || at > int64_t(most)) {
    n.error("input " + llvm::Twine(i) +
            " (position) does not lie in a sequence of " + llvm::Twine(size));
    return std::nullopt;
  }
  return size_t(at);
}

void importSequenceConstruct(NodeReader &n, NodeBuilder &b) {
  n.result(standIn(n, b, n.inputs().vec()));
}

void importSequenceEmpty(NodeReader &n, NodeBuilder &b) {
  n.integer("dtype", 1);
  n.result(standIn(n, b, {}));
}

void importSequenceAt(NodeReader &n, NodeBuilder &b) {
  const std::vector<Value *> *parts = sequence(n, 0);
  if (!parts)
    return;
  if (parts->empty())
    return n.error("the sequence is empty");
  if (std::optional<size_t> at =
          position(n, 1, parts->size(), parts->size() - 1))
    n.result((*parts)[*at]);
}

void importSequenceLength(NodeReader &n, NodeBuilder &b) {
  if (const std::vector<Value *> *parts = sequence(n, 0))
    n.result(b.dim(Dim(int64_t(parts->size())), DataType::I64));
}

void importSequenceInsert(NodeReader &n, NodeBuilder &b) {
  const std::vector<Value *> *parts = sequence(n, 0);
  if (!parts)
    return;
  std::vector<Value *> more = *parts;
  std::optional<size_t> at = more.size();
  if (n.hasInput(2))
    at = position(n, 2, more.size(), more.size());
  if (!at)
    return;
  more.insert(more.begin() + int64_t(*at), n.input(1));
  n.result(standIn(n, b, std::move(more)));
}

void importSequenceErase(NodeReader &n, NodeBuilder &b) {
  const std::vector<Value *> *parts = sequence(n, 0);
  if (!parts)
    return;
  if (parts->empty())
    return n.error("the sequence is empty");
  std::vector<Value *> fewer = *parts;
  std::optional<size_t> at = fewer.size() - 1;
  if (n.hasInput(1))
    at = position(n, 1, fewer.size(), fewer.size() - 1);
  if (!at)
    return;
  fewer.erase(fewer.begin() + int64_t(*at));
  n.result(standIn(n, b, std::move(fewer)));
}

/// Slices of one length, of given lengths, or of 1 with the axis gone or kept.
void importSplitToSequence(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  bool keepDims = n.flag("keepdims", true);
  if (n.failed())
    return;
  const Dim &whole = x->type().shape[axis];
  if (!whole.isConstant())
    return n.error("dimension " + whole.str() + " of " + x->type().str() +
                   " is symbolic, and so is the number of parts: fix it with "
                   "--shape");
  std::vector<int64_t> sizes;
  int64_t left = whole.constant();
  if (!n.hasInput(1)) {
    sizes.assign(size_t(std::min<int64_t>(left, 1 << 16)), 1);
  } else {
    std::optional<std::vector<int64_t>> given = n.ints(1, "split");
    if (!given)
      return;
    if (n.input(1)->type().rank() > 0)
      sizes = *given;
    else if (given->front() < 1)
      return n.error("split is " + llvm::Twine(given->front()) +
                     ", expected a positive number");
    else
      for (; left > 0 && sizes.size() < (1 << 16); left -= given->front())
        sizes.push_back(std::min(left, given->front()));
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size < 0 ? INT64_MIN / (1 << 20) : size;
  if (total != whole.constant())
    return n.error("split adds up to " + llvm::Twine(total) + ", dimension " +
                   llvm::Twine(axis) + " is " + whole.str());
  std::vector<Value *> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    Value *part = b.slice(x, axis, start, size);
    if (!n.hasInput(1) && !keepDims) {
      std::vector<Dim> shape(x->type().shape.begin(), x->type().shape.end());
      shape.erase(shape.begin() + axis);
      part = b.reshape(part, shape);
    }
    parts.push_back(part);
    start += size;
  }
  n.result(standIn(n, b, std::move(parts)));
}

void importConcatFromSequence(NodeReader &n, NodeBuilder &b) {
  const std::vector<Value *> *parts = sequence(n, 0);
  if (!parts)
    return;
  if (parts->empty())
    return n.error("the sequence is empty");
  if (!n.has("axis"))
    n.error("attribute \"axis\" is missing");
  bool stacks = n.flag("new_axis", false);
  int64_t axis = n.axis("axis", 0, (*parts)[0]->type().rank() + stacks);
  llvm::SmallVector<Value *, 8> values;
  for (Value *part : *parts)
    values.push_back(stacks ? b.unsqueeze(part, {axis}) : part);
  n.result(b.concat(values, axis));
}

/// A tensor is an optional that is there.
void importOptionalHasElement(NodeReader &n, NodeBuilder &b) {
  bool has = n.hasInput(0);
  n.input(0);
  n.result(b.scalar(DataType::Bool, has));
}

} // namespace dlc
