// SPDX-License-Identifier: Apache-2.0
// Writes a bundle to disk, whole or not at all.
#pragma once

#include "runtime/bundle/BundleBuilder.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dlc {

/// Whether a bundle may be written to `path`: it is no folder, and none of the
/// files that are read to make the bundle.
llvm::Error checkBundlePath(llvm::StringRef path, llvm::StringRef modelPath);

/// Writes what the builder collected to `path`: into a file beside it that is
/// renamed into place once it is complete, so that a reader never sees half a
/// bundle and a failure leaves what was there. A link is followed,
/// and a device or a pipe is written to: it is not replaced by a file.
llvm::Error writeBundle(bundle::BundleBuilder &builder, llvm::StringRef path);

} // namespace dlc
