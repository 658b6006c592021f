// SPDX-License-Identifier: Apache-2.0
// Opens a bundle file and checks all of it.
#include "runtime/bundle/BundleReader.h"

#include "runtime/bundle/PlanVerifier.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace dlc;
using namespace dlc::bundle;

static Status bad(std::string sentence) {
  return Status(DLC_BAD_BUNDLE, std::move(sentence));
}

static std::string_view textOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Status BundleReader::open(const char *path,
                          std::shared_ptr<const BundleReader> &bundle) {
  auto reader = std::make_shared<BundleReader>();
  Status status = FileBytes::map(path, reader->File);
  if (status.ok())
    status = reader->read();
  if (status.ok())
    bundle = std::move(reader);
  return std::move(status).in(say("\"", path, "\""));
}

Status BundleReader::openMemory(const void *data, size_t bytes,
                                std::shared_ptr<const BundleReader> &bundle) {
  auto reader = std::make_shared<BundleReader>();
  Status status = FileBytes::wrap(data, bytes, reader->File);
  if (status.ok())
    status = reader->read();
  if (status.ok())
    bundle = std::move(reader);
  return std::move(status).in("bundle in memory");
}

Status BundleReader::read() {
  DLC_RETURN_IF_FAILED(readTable());
  DLC_RETURN_IF_FAILED(readManifest());
  DLC_RETURN_IF_FAILED(readPool());
  for (size_t i = 0; i < Manifest.variants.size(); i++)
    DLC_RETURN_IF_FAILED(readVariant(i).in(say("variant ", i)));
  return Status();
}

// ---- header and section table -----------------------------------------------

static bool isZero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

Status BundleReader::readTable() {
  std::span<const uint8_t> file = File.span();
  if (file.size() < sizeof kMagic ||
      memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    return bad("not a dlc bundle: it does not start with the magic number");
  Header header;
  if (file.size() < sizeof header)
    return bad(say("truncated: got ", file.size(),
                   " bytes, the header alone is ", sizeof header));
  memcpy(&header, file.data(), sizeof header);
  if (header.formatVersion > kFormatVersion)
    return bad(say("bundle format version ", header.formatVersion,
                   " is newer than this runtime reads (", kFormatVersion,
                   "): update the runtime"));
  if (header.formatVersion == 0)
    return bad("corrupted: format version 0");
  if (header.fileBytes != file.size())
    return bad(say(header.fileBytes > file.size() ? "truncated" : "corrupted",
                   ": got ", file.size(), " bytes, the header says ",
                   header.fileBytes));
  uint64_t rest = file.size() - sizeof header;
  if (header.sections > kMaxSections ||
      header.sections > rest / sizeof(Section))
    return bad(say("corrupted: ", header.sections,
                   " sections do not fit into the file"));
  std::span<const uint8_t> table =
      file.subspan(sizeof header, header.sections * sizeof(Section));
  uint64_t expected = header.checksum;
  header.checksum = 0;
  Checksum sum;
  sum.update({reinterpret_cast<const uint8_t *>(&header), sizeof header});
  sum.update(table);
  if (sum.value() != expected)
    return bad("corrupted: the checksum of the section table is wrong");

  Sections.resize(header.sections);
  if (!table.empty())
    memcpy(Sections.data(), table.data(), table.size());
  uint64_t end = sizeof header + table.size();
  for (size_t i = 0; i < Sections.size(); i++) {
    const Section &section = Sections[i];
    if (!std::has_single_bit(section.alignment) || section.alignment < 8 ||
        section.alignment > 4096)
      return bad(
          say("corrupted: section ", i, " has alignment ", section.alignment));
    if (section.offset != alignUp(end, section.alignment) ||
        section.offset > file.size() ||
        section.bytes > file.size() - section.offset)
      return bad(say("corrupted: section ", i, " lies outside its place"));
    if (!isZero(file.subspan(end, section.offset - end)))
      return bad(say("corrupted: padding before section ", i, " is not zero"));
    if (checksum(bytes(section)) != section.checksum)
      return bad(say("corrupted: the checksum of section ", i, " is wrong"));
    end = section.offset + section.bytes;
  }
  if (end != file.size())
    return bad(say("corrupted: ", file.size() - end,
                   " bytes follow the last section"));
  return Status();
}

std::span<const uint8_t> BundleReader::bytes(const Section &section) const {
  return File.span().subspan(section.offset, section.bytes);
}

// ---- FlatBuffers ------------------------------------------------------------

/// Limits for FlatBuffers' verifier; plans nest tables four deep.
static flatbuffers::Verifier verifierOf(std::span<const uint8_t> bytes) {
  constexpr flatbuffers::uoffset_t kMaxDepth = 16, kMaxTables = 4000000;
  return flatbuffers::Verifier(bytes.data(), bytes.size(), kMaxDepth,
                               kMaxTables);
}

/// The verifier looks at the alignment of a vector's length, not at that of
/// its elements, which matters where they have 8 bytes.
template <class T> static bool isAligned(const flatbuffers::Vector<T> *vector) {
  return !vector || reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0;
}

template <class T, class Function>
static bool allOf(const flatbuffers::Vector<flatbuffers::Offset<T>> *tables,
                  Function function) {
  for (size_t i = 0; tables && i < tables->size(); i++)
    if (!function(*tables->Get(flatbuffers::uoffset_t(i))))
      return false;
  return true;
}

static bool isAligned(const bundle::Manifest &manifest) {
  return isAligned(manifest.pool()) &&
         allOf(manifest.variants(), [](const Variant &variant) {
           return allOf(variant.shapes(), [](const ShapeRange &range) {
             return isAligned(range.lower()) && isAligned(range.upper());
           });
         });
}

static bool isAligned(const plan::Plan &plan) {
  return isAligned(plan.expressions()) &&
         allOf(plan.weights(), [](const plan::Weight &weight) {
           return isAligned(weight.dims()) &&
                  allOf(weight.recipe(), [](const plan::RecipeStep &step) {
                    return isAligned(step.dims());
                  });
         });
}

// ---- manifest ---------------------------------------------------------------

Status BundleReader::readManifest() {
  if (Sections.empty() || Sections[0].kind != SectionKind::Manifest)
    return bad("corrupted: the first section is not the manifest");
  for (size_t i = 1; i < Sections.size(); i++)
    if (Sections[i].kind == SectionKind::Manifest)
      return bad("corrupted: more than one manifest");
  flatbuffers::Verifier verifier = verifierOf(bytes(Sections[0]));
  if (!VerifyManifestBuffer(verifier) ||
      !isAligned(*GetManifest(bytes(Sections[0]).data())))
    return bad("corrupted: the manifest is malformed");
  GetManifest(bytes(Sections[0]).data())->UnPackTo(&Manifest);
  if (Manifest.variants.empty())
    return bad("the bundle holds no variant");
  if (Manifest.model != plan::kNone)
    DLC_RETURN_IF_FAILED(
        checkSection(Manifest.model, SectionKind::Model, "the model"));
  if (Manifest.tuning != plan::kNone)
    DLC_RETURN_IF_FAILED(
        checkSection(Manifest.tuning, SectionKind::Tuning, "tuning data"));
  return Status();
}

Status BundleReader::checkSection(uint32_t section, SectionKind kind,
                                  std::string_view what) const {
  if (section >= Sections.size() || Sections[section].kind != kind)
    return bad(say("corrupted: ", what, " is said to be in section ", section,
                   ", which is none of its kind"));
  return Status();
}

Status BundleReader::checkRange(uint32_t section, SectionKind kind,
                                uint64_t offset, uint64_t size,
                                std::string_view what) const {
  DLC_RETURN_IF_FAILED(checkSection(section, kind, what));
  uint64_t limit = Sections[section].bytes;
  if (offset > limit || size > limit - offset)
    return bad(say("corrupted: ", what, " lies outside its section: ", size,
                   " bytes at ", offset, " of ", limit));
  return Status();
}

// ---- weights ----------------------------------------------------------------

static std::span<const uint8_t> hashOf(const PoolEntry &entry) {
  return {reinterpret_cast<const uint8_t *>(entry.hash()->Data()), 32};
}

static bool isBefore(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

Status BundleReader::readPool() {
  if (Manifest.pool.empty())
    return Status();
  DLC_RETURN_IF_FAILED(
      checkSection(Manifest.weights, SectionKind::Weights, "the pool"));
  if (Sections[Manifest.weights].alignment < kWeightAlignment)
    return bad("corrupted: the pool of weights is not aligned");
  for (size_t i = 0; i < Manifest.pool.size(); i++) {
    const PoolEntry &entry = Manifest.pool[i];
    if (entry.offset() % kWeightAlignment != 0)
      return bad(say("corrupted: weight ", i, " of the pool is not aligned"));
    DLC_RETURN_IF_FAILED(checkRange(Manifest.weights, SectionKind::Weights,
                                    entry.offset(), entry.bytes(),
                                    say("weight ", i, " of the pool")));
    if (i > 0 && !isBefore(hashOf(Manifest.pool[i - 1]), hashOf(entry)))
      return bad("corrupted: the pool of weights is not sorted");
  }
  return Status();
}

const PoolEntry *BundleReader::find(std::span<const uint8_t> hash) const {
  auto place = std::lower_bound(
      Manifest.pool.begin(), Manifest.pool.end(), hash,
      [](const PoolEntry &entry, std::span<const uint8_t> wanted) {
        return isBefore(hashOf(entry), wanted);
      });
  if (place == Manifest.pool.end() || isBefore(hash, hashOf(*place)))
    return nullptr;
  return &*place;
}

std::span<const uint8_t>
BundleReader::weight(const plan::WeightT &weight) const {
  const PoolEntry *entry = find(weight.hash);
  return bytes(Sections[Manifest.weights])
      .subspan(entry->offset(), entry->bytes());
}

// ---- variants ---------------------------------------------------------------

Status BundleReader::readVariant(size_t index) {
  const VariantT &variant = *Manifest.variants[index];
  DLC_RETURN_IF_FAILED(
      checkSection(variant.plan, SectionKind::Plan, "the plan"));
  if (variant.report != plan::kNone)
    DLC_RETURN_IF_FAILED(
        checkSection(variant.report, SectionKind::Report, "the report"));
  for (size_t i = 0; i < variant.binaries.size(); i++) {
    const BinaryT &binary = *variant.binaries[i];
    DLC_RETURN_IF_FAILED(checkRange(binary.section, SectionKind::Binaries,
                                    binary.offset, binary.bytes,
                                    say("binary ", i)));
    if (binary.kind > BinaryKind::MAX)
      return bad(say("binary ", i, " is of an unknown kind"));
  }
  for (size_t i = 0; i < variant.sources.size(); i++) {
    const TextT &source = *variant.sources[i];
    DLC_RETURN_IF_FAILED(checkRange(source.section, SectionKind::Sources,
                                    source.offset, source.bytes,
                                    say("source ", i)));
  }
  for (const auto &range : variant.shapes)
    if (range->lower.size() != range->upper.size())
      return bad(say("the shape range of input \"", range->input, "\" has ",
                     range->lower.size(), " lower and ", range->upper.size(),
                     " upper bounds"));

  std::span<const uint8_t> planBytes = bytes(Sections[variant.plan]);
  flatbuffers::Verifier verifier = verifierOf(planBytes);
  if (!plan::VerifyPlanBuffer(verifier) ||
      !isAligned(*plan::GetPlan(planBytes.data())))
    return bad("corrupted: the plan is malformed");
  auto plan = std::make_unique<plan::PlanT>();
  plan::GetPlan(planBytes.data())->UnPackTo(plan.get());
  DLC_RETURN_IF_FAILED(
      verifyPlan(*plan, {variant.binaries.size(), variant.sources.size()}));
  for (const auto &weight : plan->weights) {
    const PoolEntry *entry = find(weight->hash);
    if (!entry || entry->bytes() != weight->bytes)
      return bad(say("weight \"", weight->name, "\" is not in the pool"));
  }
  Plans.push_back(std::move(plan));
  return Status();
}

std::span<const uint8_t> BundleReader::binary(size_t variant,
                                              size_t index) const {
  const BinaryT &binary = *Manifest.variants[variant]->binaries[index];
  return bytes(Sections[binary.section]).subspan(binary.offset, binary.bytes);
}

std::string_view BundleReader::source(size_t variant, size_t index) const {
  const TextT &source = *Manifest.variants[variant]->sources[index];
  return textOf(
      bytes(Sections[source.section]).subspan(source.offset, source.bytes));
}

std::string_view BundleReader::report(size_t variant) const {
  uint32_t section = Manifest.variants[variant]->report;
  return section == plan::kNone ? "" : textOf(bytes(Sections[section]));
}

std::string_view BundleReader::model() const {
  return Manifest.model == plan::kNone
             ? ""
             : textOf(bytes(Sections[Manifest.model]));
}

std::string_view BundleReader::tuning() const {
  return Manifest.tuning == plan::kNone
             ? ""
             : textOf(bytes(Sections[Manifest.tuning]));
}

std::string BundleReader::shapes(size_t variant) const {
  std::string text;
  for (const auto &range : Manifest.variants[variant]->shapes) {
    text += text.empty() ? "" : ", ";
    text += range->input + ": ";
    for (size_t i = 0; i < range->lower.size(); i++) {
      text += i ? "x" : "";
      text += std::to_string(range->lower[i]);
      if (range->upper[i] != range->lower[i])
        text += ".." + (range->upper[i] == INT64_MAX
                            ? std::string()
                            : std::to_string(range->upper[i]));
    }
  }
  return text.empty() ? "any" : text;
}
