// SPDX-License-Identifier: Apache-2.0
// A variant of a bundle on a device: its kernels loaded, its weights uploaded.
#include "runtime/Program.h"

using namespace dlc;

Status DeviceBundle::program(size_t variant, const Program *&program) {
  std::lock_guard lock(Mutex);
  std::unique_ptr<Program> &slot = Programs[variant];
  if (!slot) {
    DLC_RETURN_IF_FAILED(Owner->supports(Bundle->variant(variant)));
    auto loaded = std::make_unique<Program>();
    loaded->variant = variant;
    loaded->plan = &Bundle->plan(variant);
    DLC_RETURN_IF_FAILED(load(*loaded));
    DLC_RETURN_IF_FAILED(upload(*loaded));
    slot = std::move(loaded);
  }
  program = slot.get();
  return Status();
}

Status DeviceBundle::load(Program &program) {
  const bundle::VariantT &variant = Bundle->variant(program.variant);
  program.modules.resize(variant.binaries.size());
  for (const auto &kernel : program.plan->kernels) {
    std::unique_ptr<Module> &module = program.modules[kernel->binary];
    const bundle::BinaryT &binary = *variant.binaries[kernel->binary];
    if (!module)
      DLC_RETURN_IF_FAILED(
          Owner->load(binary.kind, binary.arch,
                      Bundle->binary(program.variant, kernel->binary), module));
    DLC_RETURN_IF_FAILED(
        module->function(*kernel, program.functions.emplace_back()));
  }
  return Status();
}

Status DeviceBundle::upload(Program &program) {
  const plan::PlanT &plan = *program.plan;
  auto alignedBytes = [](uint64_t bytes) {
    return bundle::alignUp(bytes, bundle::kWeightAlignment);
  };
  // The host reads them where they are mapped.
  if (Owner->isHost()) {
    for (const auto &weight : plan.weights)
      program.weights.push_back(
          const_cast<uint8_t *>(Bundle->weight(*weight).data()));
    return Status();
  }
  uint64_t bytes = 0;
  std::map<std::vector<uint8_t>, uint64_t> offsets;
  for (const auto &weight : plan.weights)
    if (!Uploaded.count(weight->hash) &&
        offsets.try_emplace(weight->hash, bytes).second)
      bytes += alignedBytes(weight->bytes);
  if (!offsets.empty()) {
    DeviceMemory memory;
    DLC_RETURN_IF_FAILED(memory.reserve(*Owner, bytes, "weights"));
    Stream stream = nullptr;
    DLC_RETURN_IF_FAILED(Owner->createStream(stream));
    Status status;
    for (const auto &weight : plan.weights)
      if (auto place = offsets.find(weight->hash);
          place != offsets.end() && status.ok())
        status = Owner->copyIn(memory.data() + place->second,
                               Bundle->weight(*weight).data(), weight->bytes,
                               stream);
    if (status.ok())
      status = Owner->synchronize(stream);
    Owner->destroyStream(stream);
    DLC_RETURN_IF_FAILED(std::move(status));
    for (const auto &[hash, offset] : offsets)
      Uploaded[hash] = memory.data() + offset;
    Memory.push_back(std::move(memory));
  }
  for (const auto &weight : plan.weights)
    program.weights.push_back(Uploaded[weight->hash]);
  return Status();
}
