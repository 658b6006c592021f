// SPDX-License-Identifier: Apache-2.0
// NVIDIA's run-time compiler, opened when it is needed.
#include "codegen/Nvrtc.h"

#include "codegen/IncludedHeaders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <dlfcn.h>

using namespace dlc;
using namespace dlc::codegen;

using Program = void *;
struct Nvrtc::Functions {
  int (*nvrtcVersion)(int *, int *);
  int (*nvrtcCreateProgram)(Program *, const char *, const char *, int,
                            const char *const *, const char *const *);
  int (*nvrtcCompileProgram)(Program, int, const char *const *);
  int (*nvrtcDestroyProgram)(Program *);
  int (*nvrtcGetProgramLogSize)(Program, size_t *);
  int (*nvrtcGetProgramLog)(Program, char *);
  int (*nvrtcGetCUBINSize)(Program, size_t *);
  int (*nvrtcGetCUBIN)(Program, char *);
  int (*nvrtcGetPTXSize)(Program, size_t *);
  int (*nvrtcGetPTX)(Program, char *);
  const char *(*nvrtcGetErrorString)(int);

  bool load(void *library) {
#define DLC_LOAD(name)                                                         \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name));              \
  if (!name)                                                                   \
    return false;
    DLC_LOAD(nvrtcVersion)
    DLC_LOAD(nvrtcCreateProgram)
    DLC_LOAD(nvrtcCompileProgram)
    DLC_LOAD(nvrtcDestroyProgram)
    DLC_LOAD(nvrtcGetProgramLogSize)
    DLC_LOAD(nvrtcGetProgramLog)
    DLC_LOAD(nvrtcGetCUBINSize)
    DLC_LOAD(nvrtcGetCUBIN)
    DLC_LOAD(nvrtcGetPTXSize)
    DLC_LOAD(nvrtcGetPTX)
    DLC_LOAD(nvrtcGetErrorString)
#undef DLC_LOAD
    return true;
  }
};

/// Opens libnvrtc of a folder. It finds its builtins only on the loader's path,
/// where a wheel's folder is not: so those are opened first.
static void *openIn(llvm::StringRef folder) {
  std::vector<std::string> builtins, libraries;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name.contains(".alt."))
      continue;
    if (name.starts_with("libnvrtc-builtins.so"))
      builtins.push_back(it->path());
    else if (name.starts_with("libnvrtc.so"))
      libraries.push_back(it->path());
  }
  std::sort(builtins.begin(), builtins.end());
  std::sort(libraries.begin(), libraries.end());
  if (libraries.empty())
    return nullptr;
  if (!builtins.empty())
    dlopen(builtins.back().c_str(), RTLD_NOW | RTLD_GLOBAL);
  return dlopen(libraries.back().c_str(), RTLD_NOW | RTLD_LOCAL);
}

llvm::Expected<std::unique_ptr<Nvrtc>> Nvrtc::open(llvm::StringRef searchPath) {
  void *library = nullptr;
  std::string looked;
  if (!searchPath.empty()) {
    library = openIn(searchPath);
    looked = searchPath.str();
  } else {
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    looked = "the loader's path";
    for (const char *folder : {"/usr/local/cuda/lib64", "/opt/cuda/lib64"})
      if (!library) {
        library = openIn(folder);
        looked += std::string(", ") + folder;
      }
  }
  auto functions = std::make_shared<Functions>();
  if (!library || !functions->load(library))
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "found no libnvrtc of CUDA 12 or 13 in " + looked +
            ": install it (pip install nvidia-cuda-nvrtc) and name its folder "
            "(DLC_NVRTC of dlc)");
  std::unique_ptr<Nvrtc> nvrtc(new Nvrtc);
  nvrtc->f = functions;
  functions->nvrtcVersion(&nvrtc->majorVersion, &nvrtc->minorVersion);
  if (nvrtc->majorVersion < 12)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "found libnvrtc " + nvrtc->version() +
                                       ", expected 12.0 or newer");
  return nvrtc;
}

std::string Nvrtc::version() const {
  return std::to_string(majorVersion) + "." + std::to_string(minorVersion);
}

uint32_t Nvrtc::leastDriver(const Target &target) const {
  // PTX needs a driver that knows its version; a cubin one of its major line.
  return target.kind == Target::Kind::Portable
             ? majorVersion * 1000 + minorVersion * 10
             : majorVersion * 1000;
}

std::vector<std::string> Nvrtc::options(const Target &target) const {
  std::vector<std::string> o = {"--gpu-architecture=" + target.arch,
                                "--std=c++20", "--fmad=false",
                                "-default-device"};
  if (majorVersion >= 13)
    o.push_back("--minimal");
  return o;
}

llvm::Expected<std::string> Nvrtc::compile(const KernelSource &kernel,
                                           const Target &target) const {
  std::vector<const char *> names, texts;
  // No more than what the cache's key holds, so that the two cannot differ.
  for (const DeviceHeader *h : IncludedHeaders::ofDevice().of(kernel.text)) {
    names.push_back(h->name.data());
    texts.push_back(h->text.data());
  }
  Program program = nullptr;
  auto failure = [&](int code, llvm::StringRef log) {
    f->nvrtcDestroyProgram(&program);
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "NVRTC " + version() + " does not compile " + kernel.name + " for " +
            target.name + ": " + f->nvrtcGetErrorString(code) + "\n" + log);
  };
  if (int code = f->nvrtcCreateProgram(
          &program, kernel.text.c_str(), (kernel.name + ".cu").c_str(),
          int(names.size()), texts.data(), names.data()))
    return failure(code, "");
  std::vector<std::string> list = options(target);
  std::vector<const char *> arguments;
  for (const std::string &o : list)
    arguments.push_back(o.c_str());
  if (int code = f->nvrtcCompileProgram(program, int(arguments.size()),
                                        arguments.data())) {
    size_t size = 0;
    f->nvrtcGetProgramLogSize(program, &size);
    std::string log(size, 0);
    f->nvrtcGetProgramLog(program, log.data());
    return failure(code, llvm::StringRef(log).rtrim('\0'));
  }
  bool ptx = target.kind == Target::Kind::Portable;
  size_t size = 0;
  (ptx ? f->nvrtcGetPTXSize : f->nvrtcGetCUBINSize)(program, &size);
  std::string binary(size, 0);
  (ptx ? f->nvrtcGetPTX : f->nvrtcGetCUBIN)(program, binary.data());
  f->nvrtcDestroyProgram(&program);
  return binary;
}
