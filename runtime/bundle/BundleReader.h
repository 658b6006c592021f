// SPDX-License-Identifier: Apache-2.0
// Opens a bundle file and checks all of it, so that whoever uses its parts may
// trust every index.
#pragma once

#include "runtime/Status.h"
#include "runtime/bundle/BundleFormat.h"
#include "runtime/bundle/Checksum.h"
#include "runtime/bundle/bundle_generated.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::bundle {

/// The bytes of a file, mapped, or of the caller's memory.
class FileBytes {
public:
  FileBytes() = default;
  FileBytes(FileBytes &&other) noexcept;
  FileBytes &operator=(FileBytes &&other) noexcept;
  ~FileBytes();

  static Status map(const char *path, FileBytes &bytes);
  /// Copies where the memory is not aligned to kWeightAlignment.
  static Status wrap(const void *data, size_t size, FileBytes &bytes);

  std::span<const uint8_t> span() const { return {Data, Size}; }

private:
  enum class Kind { Borrowed, Mapped, Allocated };
  const uint8_t *Data = nullptr;
  size_t Size = 0;
  Kind Owner = Kind::Borrowed;
};

/// A checked bundle. Immutable: any number of threads may read it.
class BundleReader {
public:
  /// Fails with DLC_NOT_FOUND or DLC_BAD_BUNDLE and a sentence.
  static Status open(const char *path,
                     std::shared_ptr<const BundleReader> &bundle);
  static Status openMemory(const void *data, size_t bytes,
                           std::shared_ptr<const BundleReader> &bundle);

  const ManifestT &manifest() const { return Manifest; }
  size_t variants() const { return Plans.size(); }
  const VariantT &variant(size_t index) const {
    return *Manifest.variants[index];
  }
  const plan::PlanT &plan(size_t variant) const { return *Plans[variant]; }

  std::span<const uint8_t> binary(size_t variant, size_t index) const;
  std::string_view source(size_t variant, size_t index) const;
  /// Empty where the bundle holds none.
  std::string_view report(size_t variant) const;
  std::string_view model() const;
  std::string_view tuning() const;

  /// The bytes of a weight of one of the plans, aligned to kWeightAlignment.
  std::span<const uint8_t> weight(const plan::WeightT &weight) const;

  /// "x: 1..32x3x224x224, y: 1..8"; "any" when the plan alone decides.
  std::string shapes(size_t variant) const;

  const std::vector<Section> &sections() const { return Sections; }
  uint64_t fileBytes() const { return File.span().size(); }

private:
  Status read();
  Status readTable();
  Status readManifest();
  Status readVariant(size_t index);
  Status readPool();
  std::span<const uint8_t> bytes(const Section &section) const;
  Status checkRange(uint32_t section, SectionKind kind, uint64_t offset,
                    uint64_t size, std::string_view what) const;
  Status checkSection(uint32_t section, SectionKind kind,
                      std::string_view what) const;
  const PoolEntry *find(std::span<const uint8_t> hash) const;

  FileBytes File;
  std::vector<Section> Sections;
  ManifestT Manifest;
  std::vector<std::unique_ptr<plan::PlanT>> Plans;
};

} // namespace dlc::bundle
