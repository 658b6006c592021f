// SPDX-License-Identifier: Apache-2.0
// What a kernel's key in the cache holds of the device headers: what its source
// includes, all of it and no more.
#include "codegen/IncludedHeaders.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace dlc;
using namespace dlc::codegen;

namespace {

using Names = std::vector<std::string>;

Names namesOf(const IncludedHeaders &graph, llvm::StringRef source) {
  Names names;
  for (const DeviceHeader *h : graph.of(source))
    names.emplace_back(h->name);
  return names;
}

/// a includes b, b includes c on a GPU alone, c includes a; ptx/d lies beside
/// ptx/e and names it so; f stands alone.
std::vector<DeviceHeader> six() {
  return {{"dlc/a.cuh", "#pragma once\n#include \"dlc/b.cuh\"\nint a;\n"},
          {"dlc/b.cuh", "#ifndef DLC_HOST\n#  include <dlc/c.cuh>\n#endif\n"},
          {"dlc/c.cuh", "#include \"dlc/a.cuh\"\nint c;\n"},
          {"dlc/f.cuh", "#include <vector>\nint f;\n"},
          {"dlc/ptx/d.cuh", "#include \"e.cuh\"\n # \tinclude\"../f.cuh\"\n"},
          {"dlc/ptx/e.cuh", "int e;\n"}};
}

/// The device headers that the C++ compiler finds included, for the host or as
/// NVRTC does, whose own headers are not here.
std::set<std::string> askCompiler(const std::string &header, bool forHost) {
  std::string command = std::string(DLC_TEST_CXX) +
                        " -std=c++20 -w -x c++ -MM -MG -I" + DLC_TEST_HEADERS +
                        (forHost ? " -DDLC_HOST " : " -D__CUDACC_RTC__ ") +
                        DLC_TEST_HEADERS "/" + header;
  FILE *pipe = popen(command.c_str(), "r");
  std::string text(1 << 16, 0);
  text.resize(fread(text.data(), 1, text.size(), pipe));
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::istringstream words(text);
  std::set<std::string> names;
  for (std::string word; words >> word;)
    if (llvm::StringRef name = word; name.consume_front(DLC_TEST_HEADERS "/"))
      names.insert(name.str());
  EXPECT_TRUE(names.count(header)) << text;
  return names;
}

} // namespace

TEST(IncludedHeaders, AreFollowed) {
  std::vector<DeviceHeader> headers = six();
  IncludedHeaders graph(headers);
  Names abc = {"dlc/a.cuh", "dlc/b.cuh", "dlc/c.cuh"};
  EXPECT_EQ(namesOf(graph, "#include \"dlc/a.cuh\"\n"), abc);
  EXPECT_EQ(namesOf(graph, "int x;\n#include <dlc/c.cuh>"), abc);
  EXPECT_EQ(namesOf(graph, "#include \"dlc/ptx/d.cuh\"\r\n"),
            (Names{"dlc/f.cuh", "dlc/ptx/d.cuh", "dlc/ptx/e.cuh"}));
  EXPECT_EQ(namesOf(graph, "#include \"dlc/f.cuh\"\n#include <none.h>\n"),
            Names{"dlc/f.cuh"});
  EXPECT_EQ(namesOf(graph, "int include;\n#define include\n"), Names{});
  EXPECT_EQ(namesOf(graph, "#include THIS\n").size(), 6u);
}

TEST(IncludedHeaders, AloneDecideTheKey) {
  const std::vector<DeviceHeader> before = six();
  std::vector<std::string> sources;
  for (const DeviceHeader &h : before)
    sources.push_back("#include \"" + std::string(h.name) + "\"\n");
  IncludedHeaders old(before);
  // Each header in turn gets another text.
  for (size_t changed = 0; changed < before.size(); changed++) {
    std::string text = std::string(before[changed].text) + "// 1\n";
    std::vector<DeviceHeader> after = before;
    after[changed].text = text;
    IncludedHeaders graph(after);
    for (const std::string &source : sources) {
      Names names = namesOf(old, source);
      bool isIncluded = std::count(names.begin(), names.end(),
                                   std::string(before[changed].name));
      EXPECT_EQ(graph.key(source) != old.key(source), isIncluded)
          << source << before[changed].name;
    }
  }
  // A new header is no reason to compile anything again.
  std::vector<DeviceHeader> more = before;
  more.insert(more.begin(), {"dlc/a0.cuh", "#include \"dlc/a.cuh\"\n"});
  IncludedHeaders larger(more);
  for (const std::string &source : sources)
    EXPECT_EQ(larger.key(source), old.key(source)) << source;
  // Unless it takes the place of one that was found elsewhere.
  more.push_back({"dlc/ptx/dlc/f.cuh", "int other;\n"});
  more[5].text = "#include \"dlc/f.cuh\"\n";
  EXPECT_EQ(namesOf(IncludedHeaders(more), "#include \"dlc/ptx/d.cuh\"\n"),
            (Names{"dlc/f.cuh", "dlc/ptx/d.cuh", "dlc/ptx/dlc/f.cuh"}));
}

TEST(IncludedHeaders, LackNothingThatACompilerReads) {
  const IncludedHeaders &graph = IncludedHeaders::ofDevice();
  size_t all = deviceHeaders().size(), least = all;
  for (const DeviceHeader &h : deviceHeaders()) {
    std::string name(h.name);
    Names names = namesOf(graph, "#include \"" + name + "\"\n");
    least = std::min(least, names.size());
    for (bool forHost : {true, false})
      for (const std::string &read : askCompiler(name, forHost))
        EXPECT_TRUE(std::count(names.begin(), names.end(), read))
            << name << " includes " << read;
  }
  EXPECT_LT(least, all / 4);
}
