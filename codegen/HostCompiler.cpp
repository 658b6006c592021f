// SPDX-License-Identifier: Apache-2.0
// The system's C++ compiler on emitted kernels.
#include "codegen/HostCompiler.h"

#include "codegen/device/DeviceHeaders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace dlc;
using namespace dlc::codegen;
namespace fs = llvm::sys::fs;

static llvm::Error failure(const llvm::Twine &sentence) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), sentence);
}

static llvm::Error write(const std::string &path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << text;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return failure("cannot write " + path + ": " + error.message());
  return llvm::Error::success();
}

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// What a compiler that reports success has written. Nothing is no code: it
/// must not reach the cache, or a bundle.
static llvm::Expected<std::string> readCode(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer)
    return failure("cannot read " + path + ": " + buffer.getError().message());
  if ((*buffer)->getBuffer().empty())
    return failure(path + " is empty");
  return (*buffer)->getBuffer().str();
}

/// Has this machine what x86-64-v3 asks for? Kernels run where they are built.
static bool hasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// Where a program is; empty: nowhere.
static std::string find(llvm::StringRef name) {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name);
  return path && fs::can_execute(*path) ? *path : std::string();
}

llvm::Expected<HostCompiler> HostCompiler::open(llvm::StringRef program) {
  HostCompiler c;
  std::string tried;
  std::vector<std::string> names = {"c++", "g++", "clang++"};
  if (!program.empty())
    names = {program.str()};
  for (const std::string &name : names) {
    tried += (tried.empty() ? "" : ", ") + name;
    c.program = find(name);
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(name).split(words, ' ', -1, /*KeepEmpty=*/false);
    if (c.program.empty() && words.size() > 1) {
      c.program = find(words.front());
      c.leading.assign(words.begin() + 1, words.end());
    }
    if (!c.program.empty())
      break;
  }
  if (c.program.empty())
    return failure("the host target needs a C++ compiler, found none of " +
                   tried);
  llvm::Expected<ScratchFolder> scratch = ScratchFolder::create("dlc-host");
  if (!scratch)
    return scratch.takeError();
  c.scratch = std::move(*scratch);
  const std::string &folder = c.scratch.path();
  for (const DeviceHeader &h : deviceHeaders()) {
    std::string path = folder + "/" + std::string(h.name);
    if (std::error_code e =
            fs::create_directories(llvm::sys::path::parent_path(path)))
      return failure("cannot write " + path + ": " + e.message());
    if (llvm::Error e = write(path, h.text))
      return e;
  }
  c.flags = {"-std=c++20",
             "-DDLC_HOST",
             "-O2",
             "-fPIC",
             "-fno-strict-aliasing",
             "-ffp-contract=off",
             "-fno-exceptions",
             "-fno-rtti",
             "-fvisibility=hidden",
             "-Wno-unknown-pragmas",
             "-w",
             "-fno-ident"};
  c.flags.insert(c.flags.begin(), c.leading.begin(), c.leading.end());
  if (hasAvx2())
    c.flags.push_back("-march=x86-64-v3");
  std::string log = folder + "/version";
  std::vector<std::string> question = c.leading;
  question.push_back("--version");
  if (llvm::Error e = c.run(question, log))
    return e;
  c.versionText = llvm::StringRef(read(log)).split('\n').first.str();
  if (!llvm::StringRef(c.versionText).contains("clang"))
    c.flags.push_back("-fno-gnu-unique");
  return c;
}

llvm::Error HostCompiler::run(llvm::ArrayRef<std::string> arguments,
                              const std::string &log) const {
  llvm::SmallVector<llvm::StringRef, 32> argv{program};
  argv.append(arguments.begin(), arguments.end());
  std::string error;
  int code = llvm::sys::ExecuteAndWait(
      program, argv, std::nullopt,
      {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)}, 0, 0,
      &error);
  if (code < 0)
    return failure(program + ": " + error);
  if (code != 0)
    return failure(program + " ended with " + std::to_string(code) + "\n" +
                   (error.empty() ? read(log) : error));
  return llvm::Error::success();
}

llvm::Expected<std::string>
HostCompiler::compile(const KernelSource &kernel) const {
  const std::string &folder = scratch.path();
  std::string base = folder + "/" + kernel.name;
  if (llvm::Error e = write(base + ".cpp", kernel.text))
    return e;
  std::vector<std::string> arguments(flags);
  for (std::string a : {std::string("-I"), folder, std::string("-c"),
                        base + ".cpp", std::string("-o"), base + ".o"})
    arguments.push_back(a);
  if (llvm::Error e = run(arguments, base + ".log"))
    return failure("the host's compiler refuses " + kernel.name + ": " +
                   llvm::toString(std::move(e)));
  llvm::Expected<std::string> object = readCode(base + ".o");
  if (!object)
    return failure(program + " made no object of " + kernel.name + ": " +
                   llvm::toString(object.takeError()));
  for (const char *end : {".cpp", ".o", ".log"})
    fs::remove(base + end);
  return object;
}

llvm::Expected<std::string>
HostCompiler::link(llvm::ArrayRef<std::string> objects) const {
  const std::string &folder = scratch.path();
  // The linker takes them from a list: there may be hundreds.
  std::string list;
  for (auto [i, object] : llvm::enumerate(objects)) {
    std::string path = folder + "/" + std::to_string(i) + ".o";
    if (llvm::Error e = write(path, object))
      return e;
    list += "\"" + path + "\"\n";
  }
  if (llvm::Error e = write(folder + "/objects", list))
    return e;
  std::string output = folder + "/kernels.so";
  std::vector<std::string> arguments = leading;
  for (std::string a :
       {std::string("-shared"), std::string("-o"), output,
        "@" + folder + "/objects", std::string("-Wl,--build-id=none"),
        std::string("-Wl,-z,relro"), std::string("-Wl,--strip-all")})
    arguments.push_back(a);
  if (llvm::Error e = run(arguments, folder + "/link.log"))
    return e;
  llvm::Expected<std::string> code = readCode(output);
  if (!code)
    return failure(program +
                   " linked nothing: " + llvm::toString(code.takeError()));
  return code;
}
