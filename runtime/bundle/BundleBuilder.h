// SPDX-License-Identifier: Apache-2.0
// Lays out a bundle file from its parts. The compiler's BundleWriter puts it
// on disk; tests build small bundles with it. Not part of the runtime library.
#pragma once

#include "runtime/bundle/BundleFormat.h"
#include "runtime/bundle/Checksum.h"
#include "runtime/bundle/bundle_generated.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlc::bundle {

struct BinaryContent {
  BinaryKind kind = BinaryKind::Cubin;
  std::string arch; ///< "sm_90a", "compute_75", "x86_64", "aarch64"
  std::string bytes;
};

struct SourceContent {
  std::string name; ///< "dlc_matmul_....cu"
  std::string text;
};

/// One variant, with its plan. Kernel.binary and Kernel.source in the plan
/// index `binaries` and `sources`.
struct VariantContent {
  std::string target;    ///< "sm_90a", "portable", "host"
  std::string precision; ///< "fp32", "fp16" ...
  std::vector<ShapeRangeT> shapes;
  std::unique_ptr<plan::PlanT> plan;
  /// The bytes of each of plan->weights. Not copied: they must stay until the
  /// bundle is written. The builder fills in their hashes and sizes.
  std::vector<std::span<const uint8_t>> weights;
  std::vector<BinaryContent> binaries;
  std::vector<SourceContent> sources;
  std::string report;
  uint32_t leastDriver = 0; ///< CUDA version, 12040 for 12.4
  std::vector<std::string> libraries;
};

/// Collects the parts and writes them in one pass. The same parts give the
/// same bytes: the pool is sorted by hash, nothing depends on time or place.
class BundleBuilder {
public:
  std::string producer; ///< "dlc 0.1.0, NVRTC 13.0"
  std::string modelName;
  std::string model;  ///< IR text without weights
  std::string tuning; ///< the text lockfile

  /// Equal weights of all variants are stored once.
  void addVariant(VariantContent variant);

  /// Receives the file piece by piece; false stops the writing.
  using Sink = std::function<bool(std::span<const uint8_t>)>;
  /// Writes the file; false when the sink said so.
  bool write(const Sink &sink);

private:
  struct Part {
    SectionKind kind;
    std::string bytes;
  };
  uint32_t addPart(SectionKind kind, std::string bytes);

  ManifestT Manifest;
  std::vector<Part> Parts; ///< in the order of the file, before model etc.
  std::map<Hash, std::span<const uint8_t>> Pool;
};

/// Makes the checksums of a file in memory right again after a change, if its
/// section table still lies inside it. For tests of what lies behind them.
void repairChecksums(std::span<uint8_t> file);

} // namespace dlc::bundle
