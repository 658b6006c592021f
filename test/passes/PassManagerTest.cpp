// SPDX-License-Identifier: Apache-2.0
// What a pass that is at fault leaves behind: the module that it was given and
// the command that shows the fault.
#include "passes/PassManager.h"
#include "ir/Check.h"
#include "ir/Text.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace dlc;

namespace {

constexpr char kText[] = R"(module {
  graph @main(%x: tensor<2xf32>) -> (%y) {
    %y = relu(%x) : tensor<2xf32>
  }
}
)";

llvm::Expected<bool> breakTypes(Module &module, PassContext &) {
  Op &op = module.main().ops().front();
  op.setResultTypes({op.result()->type().withElement(DataType::F16)});
  return true;
}

llvm::Expected<bool> failCheck(Module &module, PassContext &) {
  DLC_CHECK(module.main().ops().empty()) << "there is an op";
  return false;
}

class PassManagerTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("dlc-test", folder));
    options.reproducerFolder = folder.str().str();
    options.reproducerFlags = "--target=sm_80";
    auto parsed = parse(kText, "test");
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    module = std::move(*parsed);
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  /// Text of the one file that was written; the message must name it.
  std::string written(llvm::StringRef message) {
    std::error_code error;
    llvm::sys::fs::directory_iterator it(folder, error), end;
    if (error || it == end)
      return "nothing";
    EXPECT_TRUE(message.empty() || message.ends_with(it->path()))
        << message.str();
    auto buffer = llvm::MemoryBuffer::getFile(it->path());
    return buffer ? (*buffer)->getBuffer().str() : "unreadable";
  }

  llvm::SmallString<128> folder;
  PassManagerOptions options;
  std::unique_ptr<Module> module;
  PassContext context;
};

TEST_F(PassManagerTest, KeepsWhatAPassHasBroken) {
  PassManager manager;
  Pass pass{"break-types", "", breakTypes};
  manager.add(pass);
  std::string message = llvm::toString(manager.run(*module, context, options));
  llvm::StringRef text(message);
  EXPECT_TRUE(text.starts_with("pass break-types left a module that does not "
                               "verify: "))
      << message;
  EXPECT_TRUE(text.contains("; to reproduce: dlc-opt --break-types "
                            "--precision=fp32 --target=sm_80 "))
      << message;
  EXPECT_EQ(written(message), kText);
}

TEST_F(PassManagerTest, KeepsWhatFailedACheck) {
  PassManager manager;
  Pass pass{"fail-check", "", failCheck};
  manager.add(pass);
  EXPECT_DEATH(llvm::consumeError(manager.run(*module, context, options)),
               "internal check failed: .*ops\\(\\).empty\\(\\): there is an "
               "op\nto reproduce: dlc-opt --fail-check --precision=fp32 "
               "--target=sm_80 .*dlc-fail-check-.*\\.dlc");
  EXPECT_EQ(written(""), kText);
}

TEST_F(PassManagerTest, WritesNothingWhereNoFolderIsGiven) {
  options.reproducerFolder.clear();
  PassManager manager;
  Pass pass{"break-types", "", breakTypes};
  manager.add(pass);
  std::string message = llvm::toString(manager.run(*module, context, options));
  EXPECT_EQ(message.find("reproduce"), std::string::npos) << message;
}

} // namespace
