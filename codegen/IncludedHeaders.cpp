// SPDX-License-Identifier: Apache-2.0
// Which device headers a source includes, itself and through other headers.
#include "codegen/IncludedHeaders.h"

#include "codegen/KernelCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace dlc;
using namespace dlc::codegen;
using llvm::StringRef;
namespace path = llvm::sys::path;

IncludedHeaders::IncludedHeaders(llvm::ArrayRef<DeviceHeader> headers)
    : headers(headers) {
  for (size_t i = 0; i < headers.size(); i++) {
    positions[StringRef(headers[i].name)] = i;
    digests.push_back(KernelCache::key({headers[i].name, headers[i].text}));
  }
  for (const DeviceHeader &h : headers)
    direct.push_back(named(h.text, path::parent_path(h.name)));
}

const IncludedHeaders &IncludedHeaders::ofDevice() {
  static const IncludedHeaders graph(deviceHeaders());
  return graph;
}

std::vector<size_t> IncludedHeaders::named(StringRef text,
                                           StringRef folder) const {
  std::vector<size_t> found;
  auto add = [&](StringRef name) {
    if (auto it = positions.find(name); it != positions.end())
      found.push_back(it->second);
  };
  for (size_t at; (at = text.find('#')) != StringRef::npos;) {
    text = text.drop_front(at + 1);
    StringRef rest = text.ltrim(" \t");
    if (!rest.consume_front("include"))
      continue;
    rest = rest.take_until([](char c) { return c == '\n'; }).trim();
    char end = rest.starts_with("<") ? '>' : '"';
    if (!rest.consume_front("<") && !rest.consume_front("\"")) {
      for (size_t i = 0; i < headers.size(); i++)
        found.push_back(i);
      continue;
    }
    StringRef name = rest.take_until([&](char c) { return c == end; });
    add(name);
    llvm::SmallString<64> beside(folder);
    path::append(beside, name);
    path::remove_dots(beside, /*remove_dot_dot=*/true);
    add(beside);
  }
  return found;
}

std::vector<size_t> IncludedHeaders::closure(StringRef source) const {
  std::vector<bool> isIncluded(headers.size());
  std::vector<size_t> open = named(source, "");
  while (!open.empty()) {
    size_t i = open.back();
    open.pop_back();
    if (isIncluded[i])
      continue;
    isIncluded[i] = true;
    open.insert(open.end(), direct[i].begin(), direct[i].end());
  }
  std::vector<size_t> result;
  for (size_t i = 0; i < headers.size(); i++)
    if (isIncluded[i])
      result.push_back(i);
  return result;
}

std::vector<const DeviceHeader *> IncludedHeaders::of(StringRef source) const {
  std::vector<const DeviceHeader *> result;
  for (size_t i : closure(source))
    result.push_back(&headers[i]);
  return result;
}

std::string IncludedHeaders::key(StringRef source) const {
  std::vector<StringRef> parts;
  for (size_t i : closure(source))
    parts.push_back(digests[i]);
  return KernelCache::key(parts);
}
