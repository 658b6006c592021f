// SPDX-License-Identifier: Apache-2.0
// Every option of a compilation, as one plain struct.
#include "compiler/Options.h"

namespace dlc {

llvm::Expected<std::vector<ImportOptions>>
specialisations(llvm::ArrayRef<std::string> shapes,
                llvm::ArrayRef<std::string> bindings,
                llvm::ArrayRef<std::string> kept) {
  std::vector<ImportOptions> all(1);
  for (const std::string &text : shapes) {
    llvm::StringRef input = llvm::StringRef(text).rsplit('=').first;
    if (all.back().shapes.count(input.str()))
      all.emplace_back();
    if (llvm::Error e = all.back().addShape(text))
      return e;
  }
  for (ImportOptions &o : all) {
    o.kept.insert(kept.begin(), kept.end());
    for (const std::string &text : bindings)
      if (llvm::Error e = o.addBinding(text))
        return e;
    for (const std::string &name : kept)
      if (o.bindings.count(name))
        return llvm::createStringError(
            "--keep-input " + name + " and --bind " + name + "=" +
            o.bindings.find(name)->second +
            ": expected one of them, since a bound input is a constant");
  }
  return all;
}

llvm::Expected<std::vector<StateBinding>>
parseStates(llvm::ArrayRef<std::string> texts) {
  std::vector<StateBinding> states;
  for (const std::string &text : texts) {
    auto [input, output] = llvm::StringRef(text).split('=');
    if (input.empty() || output.empty())
      return llvm::createStringError("--state " + text +
                                     ": expected INPUT=OUTPUT");
    states.push_back({input.str(), output.str()});
  }
  return states;
}

} // namespace dlc
