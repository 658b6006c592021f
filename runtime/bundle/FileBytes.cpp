// SPDX-License-Identifier: Apache-2.0
// The bytes of a bundle: a mapped file, or memory.
#include "runtime/bundle/BundleReader.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace dlc;
using namespace dlc::bundle;

FileBytes::FileBytes(FileBytes &&other) noexcept { *this = std::move(other); }

FileBytes &FileBytes::operator=(FileBytes &&other) noexcept {
  std::swap(Data, other.Data);
  std::swap(Size, other.Size);
  std::swap(Owner, other.Owner);
  return *this;
}

FileBytes::~FileBytes() {
  if (Owner == Kind::Mapped)
    munmap(const_cast<uint8_t *>(Data), Size);
  if (Owner == Kind::Allocated)
    free(const_cast<uint8_t *>(Data));
}

Status FileBytes::map(const char *path, FileBytes &bytes) {
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status(errno == ENOENT ? DLC_NOT_FOUND : DLC_BAD_BUNDLE,
                  say("cannot open: ", strerror(errno)));
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return Status(DLC_BAD_BUNDLE, "not a dlc bundle: not a regular file");
  }
  if (info.st_size == 0) {
    close(file);
    return Status(DLC_BAD_BUNDLE, "not a dlc bundle: the file is empty");
  }
  void *data =
      mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  int code = errno;
  close(file);
  if (data == MAP_FAILED)
    return Status(DLC_OUT_OF_MEMORY, say("cannot map ", uint64_t(info.st_size),
                                         " bytes: ", strerror(code)));
  bytes.Data = static_cast<const uint8_t *>(data);
  bytes.Size = size_t(info.st_size);
  bytes.Owner = Kind::Mapped;
  return Status();
}

Status FileBytes::wrap(const void *data, size_t size, FileBytes &bytes) {
  bytes.Size = size;
  if (reinterpret_cast<uintptr_t>(data) % kWeightAlignment == 0) {
    bytes.Data = static_cast<const uint8_t *>(data);
    return Status();
  }
  void *copy =
      aligned_alloc(kWeightAlignment, alignUp(size + 1, kWeightAlignment));
  if (!copy)
    return Status(DLC_OUT_OF_MEMORY, say("cannot allocate ", size, " bytes"));
  if (size)
    memcpy(copy, data, size);
  bytes.Data = static_cast<const uint8_t *>(copy);
  bytes.Owner = Kind::Allocated;
  return Status();
}
