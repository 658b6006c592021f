// SPDX-License-Identifier: Apache-2.0
// Layouts as text: `nhwc`, `nc/32hw32`, `[0,2,3,1]`, `[0,1,1/32] pad 0:8`.
#include "ir/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dlc {

using llvm::createStringError;
using llvm::StringRef;

namespace {

/// Letters of the dimensions of an image of `rank`, in logical order.
StringRef letters(int64_t rank) {
  switch (rank) {
  case 3:
    return "ncw";
  case 4:
    return "nchw";
  case 5:
    return "ncdhw";
  default:
    return "";
  }
}

llvm::Error refused(StringRef text, int64_t rank, const llvm::Twine &why) {
  return createStringError("layout '" + text + "' of rank " +
                           llvm::Twine(rank) + ": " + why);
}

/// What Layout::blocked asks of its entries, as an error.
llvm::Error checkEntries(StringRef text, int64_t rank,
                         llvm::ArrayRef<Layout::Entry> entries) {
  llvm::SmallVector<bool, 6> seen(rank, false);
  for (const Layout::Entry &e : entries) {
    if (e.dimension < 0 || e.dimension >= rank)
      return refused(text, rank,
                     "there is no dimension " + llvm::Twine(e.dimension));
    if (seen[e.dimension] != (e.factor > 0))
      return refused(text, rank,
                     "the outermost entry of a dimension, and no other, is "
                     "without a factor");
    seen[e.dimension] = true;
  }
  if (llvm::is_contained(seen, false))
    return refused(text, rank, "a dimension is missing");
  return llvm::Error::success();
}

/// "[0,1,2,3,1/32]"
llvm::Error parseList(StringRef text, int64_t rank, StringRef list,
                      llvm::SmallVectorImpl<Layout::Entry> &entries) {
  llvm::SmallVector<StringRef, 6> items;
  list.split(items, ',', -1, /*KeepEmpty=*/true);
  for (StringRef item : items) {
    auto [d, factor] = item.trim().split('/');
    Layout::Entry e{0, 0};
    if (d.getAsInteger(10, e.dimension) ||
        (!factor.empty() && factor.getAsInteger(10, e.factor)))
      return refused(text, rank, "expected dimension or dimension/factor");
    entries.push_back(e);
  }
  return llvm::Error::success();
}

/// "nhwc", "nc/32hw32"
llvm::Error parseWord(StringRef text, int64_t rank, StringRef word,
                      llvm::SmallVectorImpl<Layout::Entry> &entries) {
  StringRef names = letters(rank);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> split; // factor, dimension
  while (!word.empty()) {
    int64_t factor = 0;
    if (llvm::isDigit(word[0])) {
      word.consumeInteger(10, factor);
      auto it = llvm::find_if(split, [&](auto s) { return s.first == factor; });
      if (it == split.end())
        return refused(text, rank,
                       "no dimension is split by " + llvm::Twine(factor));
      entries.push_back({it->second, factor});
      continue;
    }
    size_t d = names.find(word[0]);
    if (d == StringRef::npos)
      return refused(text, rank, "expected a word such as nhwc or a list");
    word = word.drop_front();
    entries.push_back({int64_t(d), 0});
    if (word.consume_front("/")) {
      if (word.consumeInteger(10, factor))
        return refused(text, rank, "expected a factor after '/'");
      split.push_back({factor, int64_t(d)});
    }
  }
  return llvm::Error::success();
}

} // namespace

std::string Layout::str(int64_t rank) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::SmallVector<Entry, 6> list = entries(rank);
  StringRef names = letters(rank);
  bool plain = llvm::all_of(list, [](const Entry &e) { return !e.factor; });
  if (plain && !names.empty()) {
    for (const Entry &e : list)
      os << names[e.dimension];
  } else {
    llvm::ListSeparator comma(",");
    os << "[";
    for (const Entry &e : list) {
      os << comma << e.dimension;
      if (e.factor)
        os << "/" << e.factor;
    }
    os << "]";
  }
  for (auto [d, multiple] : pads)
    os << " pad " << d << ":" << multiple;
  return text;
}

llvm::Expected<Layout> Layout::parse(StringRef text, int64_t rank) {
  StringRef rest = text.trim();
  size_t end = rest.starts_with("[") ? rest.find(']') : rest.find(' ');
  StringRef head = rest.substr(0, end);
  rest = rest.substr(head.size());
  llvm::SmallVector<Entry, 6> entries;
  bool isList = head.consume_front("[");
  if (isList && !rest.consume_front("]"))
    return refused(text, rank, "']' is missing");
  if (!isList && head.empty())
    return refused(text, rank, "expected a word such as nhwc or a list");
  if (llvm::Error e =
          isList ? (head.trim().empty() ? llvm::Error::success()
                                        : parseList(text, rank, head, entries))
                 : parseWord(text, rank, head, entries))
    return e;
  if (llvm::Error e = checkEntries(text, rank, entries))
    return e;
  Layout result = blocked(entries, rank);
  for (rest = rest.trim(); !rest.empty(); rest = rest.ltrim()) {
    int64_t d, multiple;
    if (!rest.consume_front("pad "))
      return refused(text, rank, "expected 'pad dimension:multiple'");
    rest = rest.ltrim();
    if (rest.consumeInteger(10, d) || !rest.consume_front(":") ||
        rest.consumeInteger(10, multiple) || d < 0 || d >= rank || multiple < 1)
      return refused(text, rank, "expected 'pad dimension:multiple'");
    result = result.withPadding(d, multiple);
  }
  return result;
}

} // namespace dlc
