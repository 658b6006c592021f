// SPDX-License-Identifier: Apache-2.0
// dlc-eval: runs a model on the reference evaluator.
#include "compiler/tools/TextCase.h"
#include "ir/Text.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace dlc;

namespace {

cl::OptionCategory category("dlc-eval options");
cl::opt<std::string> model(cl::Positional, cl::desc("<test.dlc>"),
                           cl::cat(category));

int fail(Error e) {
  WithColor::error(errs(), "dlc-eval") << toString(std::move(e)) << "\n";
  return 1;
}

/// A text module that carries its inputs and expected values.
Error runText(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(),
                             path + ": " + buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  Expected<std::unique_ptr<Module>> module = parse(text, path);
  if (!module)
    return module.takeError();
  if (Error e = verify(**module))
    return e;
  Expected<TextCase> test = TextCase::parse(text);
  if (!test)
    return createStringError(inconvertibleErrorCode(),
                             path + ": " + toString(test.takeError()));
  if (Error e = check(*test, (*module)->main()))
    return createStringError(inconvertibleErrorCode(),
                             path + ": " + toString(std::move(e)));
  return Error::success();
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Runs a text module on the values in its comments.\n");
  if (Error e = runText(model))
    return fail(std::move(e));
  return 0;
}
