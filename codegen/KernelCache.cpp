// SPDX-License-Identifier: Apache-2.0
// A folder of compiled kernels, addressed by what they were made from.
#include "codegen/KernelCache.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace dlc::codegen;
namespace fs = llvm::sys::fs;

static constexpr size_t kDigest = 32;

static std::string digest(llvm::StringRef bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  std::array<uint8_t, kDigest> d = hash.final();
  return std::string(d.begin(), d.end());
}

KernelCache::KernelCache(std::string folder, int64_t limitBytes)
    : folder(std::move(folder)), limitBytes(limitBytes) {}

std::string KernelCache::key(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::SHA256 hash;
  for (llvm::StringRef p : parts) {
    hash.update(std::to_string(p.size()) + ":");
    hash.update(p);
  }
  return llvm::toHex(hash.final(), true);
}

std::string KernelCache::path(llvm::StringRef key) const {
  llvm::SmallString<128> p(folder);
  llvm::sys::path::append(p, key.take_front(2), key);
  return p.str().str();
}

std::optional<std::string> KernelCache::load(llvm::StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  std::string file = path(key);
  auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
  if (!buffer)
    return std::nullopt;
  llvm::StringRef text = (*buffer)->getBuffer();
  if (text.size() < kDigest ||
      text.take_front(kDigest) != digest(text.drop_front(kDigest)))
    return std::nullopt;
  // The time of the last use decides what trim() removes.
  int fd;
  if (!fs::openFileForWrite(file, fd, fs::CD_OpenExisting, fs::OF_Append)) {
    (void)fs::setLastAccessAndModificationTime(
        fd, std::chrono::system_clock::now());
    fs::file_t handle = fs::convertFDToNativeFile(fd);
    (void)fs::closeFile(handle);
  }
  return text.drop_front(kDigest).str();
}

void KernelCache::store(llvm::StringRef key, llvm::StringRef bytes) const {
  if (folder.empty())
    return;
  std::string file = path(key);
  if (fs::create_directories(llvm::sys::path::parent_path(file)))
    return;
  llvm::Expected<fs::TempFile> temp = fs::TempFile::create(file + "-%%%%%%");
  if (!temp) {
    llvm::consumeError(temp.takeError());
    return;
  }
  llvm::raw_fd_ostream os(temp->FD, false);
  os << digest(bytes) << bytes;
  os.flush();
  bool failed = os.has_error();
  os.clear_error();
  llvm::consumeError(failed ? temp->discard() : temp->keep(file));
}

void KernelCache::trim() const {
  if (folder.empty())
    return;
  struct Entry {
    llvm::sys::TimePoint<> time;
    uint64_t size;
    std::string path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    auto status = it->status();
    if (!status || status->type() != fs::file_type::regular_file)
      continue;
    entries.push_back(
        {status->getLastModificationTime(), status->getSize(), it->path()});
    total += int64_t(status->getSize());
  }
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return a.time != b.time ? a.time < b.time : a.path < b.path;
  });
  for (const Entry &e : entries) {
    if (total <= limitBytes)
      return;
    (void)fs::remove(e.path);
    total -= int64_t(e.size);
  }
}
