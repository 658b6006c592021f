// SPDX-License-Identifier: Apache-2.0
// The side streams and events of a session.
#pragma once

#include "runtime/device/Device.h"

namespace dlc {

class StreamPool {
public:
  explicit StreamPool(Device &device) : Owner(device) {}
  StreamPool(const StreamPool &) = delete;
  ~StreamPool() {
    for (Stream stream : Streams)
      Owner.destroyStream(stream);
    for (Event event : Events)
      Owner.destroyEvent(event);
  }

  /// Makes sure that there are so many of each.
  Status reserve(size_t streams, size_t events) {
    while (Streams.size() < streams) {
      Stream stream = nullptr;
      DLC_RETURN_IF_FAILED(Owner.createStream(stream));
      Streams.push_back(stream);
    }
    while (Events.size() < events) {
      Event event = nullptr;
      DLC_RETURN_IF_FAILED(Owner.createEvent(event));
      Events.push_back(event);
    }
    return Status();
  }
  Stream stream(size_t index) const { return Streams[index]; }
  Event event(size_t index) const { return Events[index]; }

private:
  Device &Owner;
  std::vector<Stream> Streams;
  std::vector<Event> Events;
};

} // namespace dlc
