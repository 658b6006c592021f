// SPDX-License-Identifier: Apache-2.0
// Writes a bundle to disk, whole or not at all.
#include "compiler/BundleWriter.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace dlc;

static llvm::Error failure(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write \"%s\": %s",
                                 path.str().c_str(), code.message().c_str());
}

llvm::Error dlc::writeBundle(bundle::BundleBuilder &builder,
                             llvm::StringRef path) {
  llvm::SmallString<128> temporary;
  int file = -1;
  // all_read and all_write, so that the umask decides as for any new file.
  if (std::error_code code = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%%%.tmp", file, temporary, llvm::sys::fs::OF_None,
          llvm::sys::fs::all_read | llvm::sys::fs::all_write))
    return failure(path, code);

  llvm::raw_fd_ostream out(file, /*shouldClose=*/true);
  builder.write([&](std::span<const uint8_t> bytes) {
    out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return !out.has_error();
  });
  out.close();
  std::error_code code = out.error();
  out.clear_error();
  if (!code)
    code = llvm::sys::fs::rename(temporary, path);
  if (!code)
    return llvm::Error::success();
  llvm::sys::fs::remove(temporary);
  return failure(path, code);
}
