// SPDX-License-Identifier: Apache-2.0
// Where each buffer of a plan lies during a run.
#include "runtime/BufferTable.h"

using namespace dlc;

std::string BufferTable::name(uint32_t buffer) const {
  const std::string &name = Plan->buffers[buffer]->name;
  return name.empty() ? say("buffer ", buffer)
                      : say("buffer ", buffer, " (", name, ")");
}

Status BufferTable::address(uint32_t buffer, uint64_t offset, uint64_t bytes,
                            const plan::ExpressionValues &values,
                            uint8_t *&out) const {
  for (;;) {
    uint64_t limit = Shape->bytes[buffer];
    if (offset > limit || bytes > limit - offset)
      return Status(DLC_BAD_BUNDLE,
                    say(bytes, " bytes at ", offset, " lie outside ",
                        name(buffer), " of ", limit, " bytes"));
    const plan::BufferT &self = *Plan->buffers[buffer];
    if (self.alias == plan::kNone)
      break;
    int64_t start = 0;
    if (self.alias_offset != plan::kNone)
      DLC_RETURN_IF_FAILED(valueOf(*Plan, values, self.alias_offset,
                                   say("place of ", name(buffer)), start));
    if (start < 0 || uint64_t(start) > Shape->bytes[self.alias])
      return Status(DLC_BAD_BUNDLE,
                    say(name(buffer), " lies outside ", name(self.alias)));
    offset += uint64_t(start);
    buffer = self.alias;
  }
  out = Bases[buffer] + offset;
  return Status();
}

Status BufferTable::addressAt(uint32_t buffer, uint32_t offset, uint64_t bytes,
                              const plan::ExpressionValues &values,
                              uint8_t *&out) const {
  int64_t at = 0;
  if (offset != plan::kNone)
    DLC_RETURN_IF_FAILED(
        valueOf(*Plan, values, offset, say("offset in ", name(buffer)), at));
  if (at < 0)
    return Status(DLC_BAD_BUNDLE,
                  say("offset ", at, " lies outside ", name(buffer)));
  return address(buffer, uint64_t(at), bytes, values, out);
}
