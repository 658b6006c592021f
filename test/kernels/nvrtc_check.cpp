// SPDX-License-Identifier: Apache-2.0
// Compiles CUDA sources with NVRTC for one architecture after another and
// says what failed: nvrtc_check INCLUDE_FOLDER ARCH,ARCH... SOURCE...
// With --cubins FOLDER first, writes FOLDER/NAME.cubin of the last one.
// (no GPU needed). NVRTC_LIBRARY_DIR names the folder of libnvrtc, default
// /usr/local/cuda/lib64. Exit 77 (skipped) where there is none.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using Program = void *;
struct Nvrtc {
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *);
  int (*compile)(Program, int, const char *const *);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  int (*cubinSize)(Program, size_t *);
  int (*cubin)(Program, char *);
  int (*destroy)(Program *);
};

static bool open(Nvrtc &n) {
  const char *dir = getenv("NVRTC_LIBRARY_DIR");
  const std::string folder = dir ? dir : "/usr/local/cuda/lib64";
  // NVIDIA's wheels have versioned names alone.
  for (const char *version : {"", ".13.0", ".12.9", ".12.8"})
    if (dlopen((folder + "/libnvrtc-builtins.so" + version).c_str(),
               RTLD_NOW | RTLD_GLOBAL))
      break;
  void *lib = nullptr;
  for (const char *version : {"", ".13", ".12"})
    if (!lib)
      lib = dlopen((folder + "/libnvrtc.so" + version).c_str(), RTLD_NOW);
  if (!lib)
    return false;
  auto get = [&](auto &f, const char *name) {
    f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(
        dlsym(lib, name));
    return f != nullptr;
  };
  return get(n.create, "nvrtcCreateProgram") &&
         get(n.compile, "nvrtcCompileProgram") &&
         get(n.logSize, "nvrtcGetProgramLogSize") &&
         get(n.log, "nvrtcGetProgramLog") &&
         get(n.cubinSize, "nvrtcGetCUBINSize") &&
         get(n.cubin, "nvrtcGetCUBIN") && get(n.destroy, "nvrtcDestroyProgram");
}

int main(int argc, char **argv) {
  std::string folder;
  if (argc > 2 && argv[1] == std::string("--cubins")) {
    folder = argv[2];
    argv += 2;
    argc -= 2;
  }
  if (argc < 4) {
    fprintf(stderr, "usage: nvrtc_check INCLUDE_FOLDER ARCH,.. SOURCE...\n");
    return 2;
  }
  Nvrtc n{};
  if (!open(n)) {
    puts("skipped: no libnvrtc");
    return 77;
  }
  int passed = 0, failed = 0;
  for (int i = 3; i < argc; i++) {
    std::ifstream in(argv[i]);
    std::stringstream text;
    text << in.rdbuf();
    std::stringstream archs(argv[2]);
    for (std::string arch; std::getline(archs, arch, ',');) {
      const std::string include = std::string("-I") + argv[1],
                        gpu = "--gpu-architecture=sm_" + arch;
      const char *options[] = {include.c_str(), gpu.c_str(), "--std=c++20",
                               "--fmad=false", "-default-device"};
      Program p;
      if (n.create(&p, text.str().c_str(), argv[i], 0, nullptr, nullptr))
        return 2;
      const int status = n.compile(p, 5, options);
      size_t logBytes = 0, cubin = 0;
      n.logSize(p, &logBytes);
      std::string log(logBytes, 0);
      n.log(p, log.data());
      if (!status)
        n.cubinSize(p, &cubin);
      status ? failed++ : passed++;
      if (cubin && !folder.empty()) {
        std::string bytes(cubin, 0);
        n.cubin(p, bytes.data());
        const std::string path(argv[i]);
        const size_t begin = path.rfind('/') + 1;
        std::ofstream(folder + "/" +
                          path.substr(begin, path.rfind('.') - begin) +
                          ".cubin",
                      std::ios::binary)
            << bytes;
      }
      printf("%s sm_%s: %s, %zu bytes\n", argv[i], arch.c_str(),
             status ? "FAILED" : "ok", cubin);
      if (logBytes > 1)
        printf("%s\n", log.c_str());
      n.destroy(&p);
    }
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
