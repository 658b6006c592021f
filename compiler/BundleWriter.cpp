// SPDX-License-Identifier: Apache-2.0
// Writes a bundle to disk, whole or not at all.
#include "compiler/BundleWriter.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace dlc;

static llvm::Error failure(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write \"%s\": %s",
                                 path.str().c_str(), code.message().c_str());
}

llvm::Error dlc::checkBundlePath(llvm::StringRef path,
                                 llvm::StringRef modelPath) {
  if (llvm::sys::fs::is_directory(path))
    return failure(path, std::make_error_code(std::errc::is_a_directory));
  bool same = false;
  if (!llvm::sys::fs::equivalent(path, modelPath, same) && same)
    return llvm::createStringError(
        std::errc::invalid_argument,
        "cannot write \"%s\": it is the model itself, name another file by -o",
        path.str().c_str());
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (!llvm::sys::fs::is_directory(folder))
    return llvm::createStringError(
        std::errc::not_a_directory,
        "cannot write \"%s\": \"%s\" is no folder that exists",
        path.str().c_str(), folder.str().c_str());
  if (std::error_code code =
          llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write))
    if (!llvm::sys::fs::exists(path))
      return failure(path, code);
  return llvm::Error::success();
}

/// The bytes of the bundle, into a file that is open.
static std::error_code writeTo(int file, bundle::BundleBuilder &builder) {
  llvm::raw_fd_ostream out(file, /*shouldClose=*/true);
  builder.write([&](std::span<const uint8_t> bytes) {
    out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return !out.has_error();
  });
  out.close();
  std::error_code code = out.error();
  out.clear_error();
  return code;
}

llvm::Error dlc::writeBundle(bundle::BundleBuilder &builder,
                             llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  bool exists =
      !llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status);
  int file = -1;
  if (exists && llvm::sys::fs::is_other(status)) {
    std::error_code code = llvm::sys::fs::openFileForWrite(
        path, file, llvm::sys::fs::CD_OpenExisting);
    if (!code)
      code = writeTo(file, builder);
    return code ? failure(path, code) : llvm::Error::success();
  }

  llvm::SmallString<128> place(path), temporary;
  if (exists)
    if (std::error_code code = llvm::sys::fs::real_path(path, place))
      return failure(path, code);
  // all_read and all_write, so that the umask decides as for any new file.
  if (std::error_code code = llvm::sys::fs::createUniqueFile(
          place + ".%%%%%%%%.tmp", file, temporary, llvm::sys::fs::OF_None,
          llvm::sys::fs::all_read | llvm::sys::fs::all_write))
    return failure(path, code);
  std::error_code code = writeTo(file, builder);
  if (!code)
    code = llvm::sys::fs::rename(temporary, place);
  if (!code)
    return llvm::Error::success();
  llvm::sys::fs::remove(temporary);
  return failure(path, code);
}
