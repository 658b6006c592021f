// SPDX-License-Identifier: Apache-2.0
// Lays out a bundle file from its parts.
#include "runtime/bundle/BundleBuilder.h"

#include <algorithm>
#include <cstring>

using namespace dlc::bundle;

static std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

static std::span<const uint8_t>
bytesOf(const flatbuffers::FlatBufferBuilder &b) {
  return {b.GetBufferPointer(), b.GetSize()};
}

static std::string toString(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

uint32_t BundleBuilder::addPart(SectionKind kind, std::string bytes) {
  Parts.push_back({kind, std::move(bytes)});
  // The manifest is section 0.
  return uint32_t(Parts.size());
}

void BundleBuilder::addVariant(VariantContent content) {
  auto variant = std::make_unique<VariantT>();
  variant->target = std::move(content.target);
  variant->precision = std::move(content.precision);
  variant->least_driver = content.leastDriver;
  variant->libraries = std::move(content.libraries);
  for (ShapeRangeT &range : content.shapes)
    variant->shapes.push_back(std::make_unique<ShapeRangeT>(std::move(range)));

  for (size_t i = 0; i < content.weights.size(); i++) {
    Hash hash = sha256(content.weights[i]);
    Pool.try_emplace(hash, content.weights[i]);
    plan::WeightT &weight = *content.plan->weights[i];
    weight.hash.assign(hash.begin(), hash.end());
    weight.bytes = content.weights[i].size();
  }
  flatbuffers::FlatBufferBuilder plan;
  plan::FinishPlanBuffer(plan, plan::Plan::Pack(plan, content.plan.get()));
  variant->plan = addPart(SectionKind::Plan, toString(bytesOf(plan)));

  std::string binaries;
  uint32_t section = uint32_t(Parts.size()) + 1;
  for (const BinaryContent &binary : content.binaries) {
    binaries.resize(alignUp(binaries.size(), 64));
    auto entry = std::make_unique<BinaryT>();
    entry->kind = binary.kind;
    entry->section = section;
    entry->offset = binaries.size();
    entry->bytes = binary.bytes.size();
    entry->arch = binary.arch;
    binaries += binary.bytes;
    variant->binaries.push_back(std::move(entry));
  }
  if (!content.binaries.empty())
    addPart(SectionKind::Binaries, std::move(binaries));

  std::string sources;
  section = uint32_t(Parts.size()) + 1;
  for (const SourceContent &source : content.sources) {
    auto entry = std::make_unique<TextT>();
    entry->name = source.name;
    entry->section = section;
    entry->offset = sources.size();
    entry->bytes = source.text.size();
    sources += source.text;
    variant->sources.push_back(std::move(entry));
  }
  if (!content.sources.empty())
    addPart(SectionKind::Sources, std::move(sources));
  if (!content.report.empty())
    variant->report = addPart(SectionKind::Report, std::move(content.report));
  Manifest.variants.push_back(std::move(variant));
}

bool BundleBuilder::write(const Sink &sink) {
  Manifest.producer = producer;
  Manifest.model_name = modelName;
  Manifest.pool.clear();

  struct Piece {
    Section section;
    std::span<const uint8_t> bytes;
  };
  std::vector<Piece> pieces(1);
  auto addPiece = [&](SectionKind kind, std::span<const uint8_t> bytes,
                      uint32_t alignment = 64) {
    pieces.push_back(
        {{kind, alignment, 0, bytes.size(), checksum(bytes)}, bytes});
    return uint32_t(pieces.size() - 1);
  };
  for (const Part &part : Parts)
    addPiece(part.kind, bytesOf(part.bytes));
  if (!model.empty())
    Manifest.model = addPiece(SectionKind::Model, bytesOf(model));
  if (!tuning.empty())
    Manifest.tuning = addPiece(SectionKind::Tuning, bytesOf(tuning));

  // The pool: pieces with zeros between, summed as they will be written.
  static constexpr uint8_t kZeros[4096] = {};
  uint64_t poolBytes = 0;
  Checksum poolSum;
  for (const auto &[hash, bytes] : Pool) {
    uint64_t offset = alignUp(poolBytes, kWeightAlignment);
    poolSum.update({kZeros, size_t(offset - poolBytes)});
    poolSum.update(bytes);
    poolBytes = offset + bytes.size();
    Manifest.pool.emplace_back(flatbuffers::make_span(hash), offset,
                               bytes.size());
  }
  if (!Pool.empty()) {
    Manifest.weights = uint32_t(pieces.size());
    pieces.push_back(
        {{SectionKind::Weights, 4096, 0, poolBytes, poolSum.value()}, {}});
  }

  flatbuffers::FlatBufferBuilder packed;
  FinishManifestBuffer(packed, bundle::Manifest::Pack(packed, &Manifest));
  std::span<const uint8_t> manifestBytes = bytesOf(packed);
  pieces[0] = {{SectionKind::Manifest, 64, 0, manifestBytes.size(),
                checksum(manifestBytes)},
               manifestBytes};

  uint64_t end = sizeof(Header) + pieces.size() * sizeof(Section);
  std::string table;
  for (Piece &piece : pieces) {
    piece.section.offset = alignUp(end, piece.section.alignment);
    end = piece.section.offset + piece.section.bytes;
    table.append(reinterpret_cast<const char *>(&piece.section),
                 sizeof(Section));
  }
  Header header = {};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.formatVersion = kFormatVersion;
  header.sections = uint32_t(pieces.size());
  header.fileBytes = end;
  Checksum sum;
  std::span<const uint8_t> headerBytes(
      reinterpret_cast<const uint8_t *>(&header), sizeof header);
  sum.update(headerBytes);
  sum.update(bytesOf(table));
  header.checksum = sum.value();

  uint64_t written = 0;
  auto put = [&](std::span<const uint8_t> bytes) {
    written += bytes.size();
    return bytes.empty() || sink(bytes);
  };
  auto padTo = [&](uint64_t offset) {
    return put({kZeros, size_t(offset - written)});
  };
  if (!put(headerBytes) || !put(bytesOf(table)))
    return false;
  for (const Piece &piece : pieces) {
    if (!padTo(piece.section.offset))
      return false;
    if (piece.section.kind != SectionKind::Weights) {
      if (!put(piece.bytes))
        return false;
      continue;
    }
    for (const auto &[hash, bytes] : Pool)
      if (!padTo(alignUp(written - piece.section.offset, kWeightAlignment) +
                 piece.section.offset) ||
          !put(bytes))
        return false;
  }
  return true;
}

void dlc::bundle::repairChecksums(std::span<uint8_t> file) {
  Header header;
  if (file.size() < sizeof header)
    return;
  memcpy(&header, file.data(), sizeof header);
  if (header.sections > (file.size() - sizeof header) / sizeof(Section))
    return;
  std::span<uint8_t> table =
      file.subspan(sizeof header, header.sections * sizeof(Section));
  for (size_t i = 0; i < header.sections; i++) {
    Section section;
    memcpy(&section, table.data() + i * sizeof section, sizeof section);
    if (section.offset > file.size() ||
        section.bytes > file.size() - section.offset)
      continue;
    section.checksum = checksum(file.subspan(section.offset, section.bytes));
    memcpy(table.data() + i * sizeof section, &section, sizeof section);
  }
  header.checksum = 0;
  Checksum sum;
  sum.update({reinterpret_cast<const uint8_t *>(&header), sizeof header});
  sum.update(table);
  header.checksum = sum.value();
  memcpy(file.data(), &header, sizeof header);
}
