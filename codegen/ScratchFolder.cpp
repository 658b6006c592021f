// SPDX-License-Identifier: Apache-2.0
// A temporary folder that does not outlive its process for long.
#include "codegen/ScratchFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace dlc::codegen;
namespace fs = llvm::sys::fs;

/// A folder without a lock is about to get one; past this age nobody is there
/// to do so.
static constexpr auto kAbandoned = std::chrono::hours(1);

/// Removes the folder of a process that is gone.
static void removeIfStale(const std::string &folder) {
  fs::file_status status;
  // What belongs to others, or only looks like a folder, is left alone.
  if (fs::status(folder, status, /*follow=*/false) ||
      !fs::is_directory(status) || status.getUser() != geteuid())
    return;
  int lock = open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) {
    auto age =
        std::chrono::system_clock::now() - status.getLastModificationTime();
    if (errno == ENOENT && age > kAbandoned)
      fs::remove_directories(folder);
    return;
  }
  if (flock(lock, LOCK_EX | LOCK_NB) == 0)
    fs::remove_directories(folder);
  close(lock);
}

llvm::Expected<ScratchFolder> ScratchFolder::create(llvm::StringRef prefix) {
  llvm::SmallString<128> place;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, place);
  std::string start = prefix.str() + "-";
  std::error_code error;
  for (fs::directory_iterator it(place, error, /*follow_symlinks=*/false), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with(start))
      removeIfStale(it->path());

  llvm::sys::path::append(place, start + "XXXXXX");
  ScratchFolder made;
  std::string name(place);
  if (!mkdtemp(name.data()))
    return llvm::createStringError(
        std::error_code(errno, std::generic_category()),
        "cannot make a temporary folder: " + name + ": " + strerror(errno));
  made.folder = name;
  // Gets its name once it is locked, so that nobody takes it before.
  std::string unlocked = name + "/lock.new";
  made.lock = open(unlocked.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // Where files cannot be locked, others cannot lock it either, and leave it.
  if (made.lock >= 0)
    (void)flock(made.lock, LOCK_EX | LOCK_NB);
  if (std::error_code code = fs::rename(unlocked, name + "/lock"))
    return llvm::createStringError(code, "cannot write " + name +
                                             "/lock: " + code.message());
  return made;
}

ScratchFolder::~ScratchFolder() {
  if (!folder.empty())
    fs::remove_directories(folder);
  if (lock >= 0)
    close(lock);
}
