// SPDX-License-Identifier: Apache-2.0
// The C++ face of dlc's runtime, over dlc/runtime.h: owning objects, and
// failures as exceptions that are thrown on the caller's side.
//
//   dlc::Bundle bundle("model.bundle");
//   dlc::Session session(bundle);
//   session.bindInput("x", dlc::tensor(pixels.data(), {1, 3, 224, 224}));
//   session.run();
//   std::vector<float> scores = session.output<float>("y");
#pragma once

#include "dlc/runtime.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlc {

class Error : public std::runtime_error {
public:
  Error(dlc_status status, const std::string &sentence)
      : std::runtime_error(sentence), Code(status) {}
  dlc_status status() const { return Code; }

private:
  dlc_status Code;
};

/// Throws unless the call went well.
inline void check(dlc_status status) {
  if (status != DLC_OK)
    throw Error(status, dlc_last_error());
}

/// The element type of a C++ type.
template <class T> struct TypeOf;
#define DLC_TYPE_OF(type, value)                                               \
  template <> struct TypeOf<type> { static constexpr dlc_type kType = value; }
DLC_TYPE_OF(bool, DLC_BOOL);
DLC_TYPE_OF(int8_t, DLC_I8);
DLC_TYPE_OF(int16_t, DLC_I16);
DLC_TYPE_OF(int32_t, DLC_I32);
DLC_TYPE_OF(int64_t, DLC_I64);
DLC_TYPE_OF(uint8_t, DLC_U8);
DLC_TYPE_OF(uint16_t, DLC_U16);
DLC_TYPE_OF(uint32_t, DLC_U32);
DLC_TYPE_OF(uint64_t, DLC_U64);
DLC_TYPE_OF(float, DLC_F32);
DLC_TYPE_OF(double, DLC_F64);
#undef DLC_TYPE_OF

/// A view of memory that somebody else owns.
inline dlc_tensor tensor(const void *data, dlc_type type,
                         const std::vector<int64_t> &dims,
                         dlc_memory memory = DLC_MEMORY_HOST) {
  dlc_tensor view = {};
  if (dims.size() > DLC_MAX_RANK)
    throw Error(DLC_BAD_INPUT, "a tensor of rank " +
                                   std::to_string(dims.size()) +
                                   ", at most 16 are supported");
  view.data = const_cast<void *>(data);
  view.type = type;
  view.memory = memory;
  view.rank = static_cast<uint32_t>(dims.size());
  uint64_t bits = dlc_type_bits(type);
  for (size_t i = 0; i < dims.size(); i++) {
    view.dims[i] = dims[i];
    bits *= static_cast<uint64_t>(dims[i]);
  }
  view.bytes = (bits + 7) / 8;
  return view;
}

template <class T>
dlc_tensor tensor(const T *data, const std::vector<int64_t> &dims,
                  dlc_memory memory = DLC_MEMORY_HOST) {
  return tensor(static_cast<const void *>(data), TypeOf<T>::kType, dims,
                memory);
}

class Bundle {
public:
  explicit Bundle(const std::string &path) {
    dlc_bundle *bundle = nullptr;
    check(dlc_bundle_open(path.c_str(), &bundle));
    Handle.reset(bundle);
  }
  /// Over memory that outlives it.
  Bundle(const void *data, size_t bytes) {
    dlc_bundle *bundle = nullptr;
    check(dlc_bundle_open_memory(data, bytes, &bundle));
    Handle.reset(bundle);
  }
  std::vector<dlc_variant> variants() const {
    std::vector<dlc_variant> all(dlc_bundle_variant_count(handle()));
    for (size_t i = 0; i < all.size(); i++)
      check(dlc_bundle_variant(handle(), i, &all[i]));
    return all;
  }
  dlc_bundle *handle() const { return Handle.get(); }

private:
  struct Close {
    void operator()(dlc_bundle *bundle) const { dlc_bundle_close(bundle); }
  };
  std::unique_ptr<dlc_bundle, Close> Handle;
};

/// The defaults, to be changed and passed to Session.
inline dlc_session_options sessionOptions() {
  dlc_session_options options;
  dlc_session_options_init(&options);
  return options;
}

/// One thread at a time; see dlc/runtime.h for what each call promises.
class Session {
public:
  explicit Session(const Bundle &bundle,
                   const dlc_session_options &options = sessionOptions()) {
    dlc_session *session = nullptr;
    check(dlc_session_create(bundle.handle(), &options, &session));
    Handle.reset(session);
  }

  std::string deviceName() const { return dlc_session_device_name(handle()); }
  std::vector<dlc_port> inputs() const {
    std::vector<dlc_port> ports(dlc_session_input_count(handle()));
    for (size_t i = 0; i < ports.size(); i++)
      check(dlc_session_input_port(handle(), i, &ports[i]));
    return ports;
  }
  std::vector<dlc_port> outputs() const {
    std::vector<dlc_port> ports(dlc_session_output_count(handle()));
    for (size_t i = 0; i < ports.size(); i++)
      check(dlc_session_output_port(handle(), i, &ports[i]));
    return ports;
  }
  size_t findInput(const std::string &name) const {
    size_t index = 0;
    check(dlc_session_find_input(handle(), name.c_str(), &index));
    return index;
  }
  size_t findOutput(const std::string &name) const {
    size_t index = 0;
    check(dlc_session_find_output(handle(), name.c_str(), &index));
    return index;
  }

  void bindInput(const std::string &name, const dlc_tensor &tensor) {
    check(dlc_session_bind_input(handle(), findInput(name), &tensor));
  }
  void bindOutput(const std::string &name, const dlc_tensor &tensor) {
    check(dlc_session_bind_output(handle(), findOutput(name), &tensor));
  }
  /// For outputs that are bound to no memory; nullptr: the session's own.
  void setAllocator(dlc_allocate_callback callback, void *user = nullptr) {
    check(dlc_session_set_allocator(handle(), callback, user));
  }
  /// Bytes of scratch memory for the shapes of the bound inputs.
  uint64_t arenaBytes() {
    uint64_t bytes = 0;
    check(dlc_session_arena_bytes(handle(), &bytes));
    return bytes;
  }
  /// Scratch memory of the caller, of the session's device, aligned to 256
  /// bytes; nullptr: the session's own.
  void bindArena(void *memory, uint64_t bytes) {
    check(dlc_session_bind_arena(handle(), memory, bytes));
  }
  void run() { check(dlc_session_run(handle())); }
  void runOn(void *stream) { check(dlc_session_run_on(handle(), stream)); }
  /// The CUstream that run() uses; null on the host device.
  void *stream() {
    void *own = nullptr;
    check(dlc_session_stream(handle(), &own));
    return own;
  }
  void wait() { check(dlc_session_wait(handle())); }
  void resetState() { check(dlc_session_reset_state(handle())); }

  dlc_tensor output(const std::string &name) {
    dlc_tensor tensor;
    check(dlc_session_output(handle(), findOutput(name), &tensor));
    return tensor;
  }
  /// A copy of an output in ordinary memory. T is as wide as its elements.
  template <class T> std::vector<T> output(const std::string &name) {
    dlc_tensor tensor = output(name);
    if (dlc_type_bits(tensor.type) != 8 * sizeof(T))
      throw Error(DLC_INVALID_ARGUMENT,
                  "output \"" + name + "\" is of type " +
                      dlc_type_name(tensor.type) + ", asked for elements of " +
                      std::to_string(sizeof(T)) + " bytes");
    std::vector<T> values(tensor.bytes / sizeof(T));
    check(dlc_session_copy_to_host(handle(), values.data(), &tensor));
    return values;
  }
  dlc_session *handle() const { return Handle.get(); }

private:
  struct Destroy {
    void operator()(dlc_session *session) const {
      dlc_session_destroy(session);
    }
  };
  std::unique_ptr<dlc_session, Destroy> Handle;
};

} // namespace dlc
