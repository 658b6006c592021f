// SPDX-License-Identifier: Apache-2.0
// The C interface: checks arguments, keeps the last error, lets no exception
// out.
#include "runtime/Session.h"

#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>

#ifndef DLC_VERSION
#error "the build says which version this is"
#endif

using namespace dlc;

struct dlc_bundle {
  std::shared_ptr<const bundle::BundleReader> reader;
  std::vector<std::string> shapes;
  std::mutex mutex;
  std::map<Device *, std::shared_ptr<DeviceBundle>> devices;
};

struct dlc_session {
  std::unique_ptr<Session> session;
};

static thread_local std::string lastError;

static dlc_status report(const Status &status) {
  if (!status.ok())
    lastError = status.sentence();
  return status.code();
}

static Status missing(std::string_view argument) {
  return Status(DLC_INVALID_ARGUMENT, say(argument, " is NULL"));
}

/// Runs a function that returns a Status; standard containers may throw.
template <class Function> static dlc_status guard(Function function) {
#if defined(__cpp_exceptions)
  try {
    return report(function());
  } catch (const std::bad_alloc &) {
    return report(Status(DLC_OUT_OF_MEMORY, "out of memory"));
  } catch (const std::exception &error) {
    return report(Status(DLC_INTERNAL, error.what()));
  }
#else
  return report(function());
#endif
}

// ---- general ----------------------------------------------------------------

const char *dlc_last_error(void) { return lastError.c_str(); }

const char *dlc_version(void) { return DLC_VERSION; }

const char *dlc_type_name(dlc_type type) {
  return plan::elementName(plan::ElementType(type));
}

uint32_t dlc_type_bits(dlc_type type) {
  return plan::elementBits(plan::ElementType(type));
}

// ---- bundles ----------------------------------------------------------------

static Status adopt(std::shared_ptr<const bundle::BundleReader> reader,
                    dlc_bundle **bundle) {
  auto created = std::make_unique<dlc_bundle>();
  for (size_t i = 0; i < reader->variants(); i++)
    created->shapes.push_back(reader->shapes(i));
  created->reader = std::move(reader);
  *bundle = created.release();
  return Status();
}

dlc_status dlc_bundle_open(const char *path, dlc_bundle **bundle) {
  return guard([&]() -> Status {
    if (!path || !bundle)
      return missing(path ? "bundle" : "path");
    std::shared_ptr<const bundle::BundleReader> reader;
    DLC_RETURN_IF_FAILED(bundle::BundleReader::open(path, reader));
    return adopt(std::move(reader), bundle);
  });
}

dlc_status dlc_bundle_open_memory(const void *data, size_t bytes,
                                  dlc_bundle **bundle) {
  return guard([&]() -> Status {
    if (!data || !bundle)
      return missing(data ? "bundle" : "data");
    std::shared_ptr<const bundle::BundleReader> reader;
    DLC_RETURN_IF_FAILED(bundle::BundleReader::openMemory(data, bytes, reader));
    return adopt(std::move(reader), bundle);
  });
}

void dlc_bundle_close(dlc_bundle *bundle) { delete bundle; }

size_t dlc_bundle_variant_count(const dlc_bundle *bundle) {
  return bundle ? bundle->reader->variants() : 0;
}

dlc_status dlc_bundle_variant(const dlc_bundle *bundle, size_t index,
                              dlc_variant *variant) {
  return guard([&]() -> Status {
    if (!bundle || !variant)
      return missing(bundle ? "variant" : "bundle");
    size_t count = bundle->reader->variants();
    if (index >= count)
      return Status(DLC_INVALID_ARGUMENT,
                    say("no variant number ", index, ": there are ", count,
                        ", counted from 0"));
    const bundle::VariantT &info = bundle->reader->variant(index);
    const plan::PlanT &plan = bundle->reader->plan(index);
    *variant = {info.target.c_str(),           info.precision.c_str(),
                bundle->shapes[index].c_str(), info.least_driver,
                plan.kernels.size(),           0};
    for (const auto &weight : plan.weights)
      variant->weight_bytes += weight->bytes;
    return Status();
  });
}

// ---- sessions ---------------------------------------------------------------

void dlc_session_options_init(dlc_session_options *options) {
  if (!options)
    return;
  *options = {};
  options->size = sizeof *options;
  options->variant = -1;
  options->graphs = 1;
}

static Status readOptions(const dlc_session_options *given,
                          dlc_session_options &options) {
  dlc_session_options_init(&options);
  if (!given)
    return Status();
  if (given->size < offsetof(dlc_session_options, log) ||
      given->size > sizeof options)
    return Status(DLC_INVALID_ARGUMENT,
                  say("options of ", given->size, " bytes, expected ",
                      sizeof options,
                      ": fill them by dlc_session_options_init"));
  memcpy(&options, given, given->size);
  return Status();
}

dlc_status dlc_session_create(dlc_bundle *bundle,
                              const dlc_session_options *given,
                              dlc_session **session) {
  return guard([&]() -> Status {
    if (!bundle || !session)
      return missing(bundle ? "session" : "bundle");
    dlc_session_options options;
    DLC_RETURN_IF_FAILED(readOptions(given, options));
    std::shared_ptr<Device> device;
    DLC_RETURN_IF_FAILED(options.device == DLC_DEVICE_HOST
                             ? openHostDevice(device)
                             : openCudaDevice(options.device_index, device));
    std::shared_ptr<DeviceBundle> shared;
    {
      std::lock_guard lock(bundle->mutex);
      std::shared_ptr<DeviceBundle> &slot = bundle->devices[device.get()];
      if (!slot)
        slot = std::make_shared<DeviceBundle>(bundle->reader, device);
      shared = slot;
    }
    SessionOptions wanted;
    wanted.target = options.target ? options.target : "";
    wanted.precision = options.precision ? options.precision : "";
    wanted.variant = options.variant;
    wanted.mode.workers = options.threads > 0 ? uint32_t(options.threads) : 0;
    wanted.mode.seed = options.adversarial_seed;
    wanted.graphs = options.graphs != 0;
    wanted.log = options.log;
    wanted.logUser = options.log_user;
    auto created = std::make_unique<dlc_session>();
    DLC_RETURN_IF_FAILED(
        Session::create(std::move(shared), wanted, created->session));
    *session = created.release();
    return Status();
  });
}

void dlc_session_destroy(dlc_session *session) { delete session; }

/// Runs a function on the session that was passed, if one was.
template <class Function>
static dlc_status with(const dlc_session *session, Function function) {
  return guard([&]() -> Status {
    if (!session)
      return missing("session");
    return function(*session->session);
  });
}

const char *dlc_session_device_name(const dlc_session *session) {
  return session ? session->session->deviceName().c_str() : "";
}

dlc_status dlc_session_variant(dlc_session *session, size_t *variant) {
  return with(session, [&](Session &self) {
    return variant ? self.variant(*variant) : missing("variant");
  });
}

size_t dlc_session_input_count(const dlc_session *session) {
  return session ? session->session->inputs().size() : 0;
}

size_t dlc_session_output_count(const dlc_session *session) {
  return session ? session->session->outputs().size() : 0;
}

static Status portAt(const std::vector<dlc_port> &ports, size_t index,
                     std::string_view what, dlc_port *port) {
  if (!port)
    return missing("port");
  if (index >= ports.size())
    return Status(DLC_INVALID_ARGUMENT,
                  say("no ", what, " number ", index, ": there are ",
                      ports.size(), ", counted from 0"));
  *port = ports[index];
  return Status();
}

dlc_status dlc_session_input_port(const dlc_session *session, size_t index,
                                  dlc_port *port) {
  return with(session, [&](Session &self) {
    return portAt(self.inputs(), index, "input", port);
  });
}

dlc_status dlc_session_output_port(const dlc_session *session, size_t index,
                                   dlc_port *port) {
  return with(session, [&](Session &self) {
    return portAt(self.outputs(), index, "output", port);
  });
}

static Status find(const std::vector<dlc_port> &ports, const char *name,
                   std::string_view what, size_t *index) {
  if (!name || !index)
    return missing(name ? "index" : "name");
  std::string known;
  for (size_t i = 0; i < ports.size(); i++) {
    if (strcmp(ports[i].name, name) == 0) {
      *index = i;
      return Status();
    }
    known += say(i ? ", " : "", "\"", ports[i].name, "\"");
  }
  return Status(DLC_NOT_FOUND,
                say("no ", what, " \"", name, "\": the model has ",
                    known.empty() ? "none" : known));
}

dlc_status dlc_session_find_input(const dlc_session *session, const char *name,
                                  size_t *index) {
  return with(session, [&](Session &self) {
    return find(self.inputs(), name, "input", index);
  });
}

dlc_status dlc_session_find_output(const dlc_session *session, const char *name,
                                   size_t *index) {
  return with(session, [&](Session &self) {
    return find(self.outputs(), name, "output", index);
  });
}

dlc_status dlc_session_bind_input(dlc_session *session, size_t index,
                                  const dlc_tensor *tensor) {
  return with(session, [&](Session &self) {
    return tensor ? self.bindInput(index, *tensor) : missing("tensor");
  });
}

dlc_status dlc_session_bind_output(dlc_session *session, size_t index,
                                   const dlc_tensor *tensor) {
  return with(session,
              [&](Session &self) { return self.bindOutput(index, tensor); });
}

dlc_status dlc_session_set_allocator(dlc_session *session,
                                     dlc_allocate_callback callback,
                                     void *user) {
  return with(session, [&](Session &self) {
    self.setAllocator(callback, user);
    return Status();
  });
}

dlc_status dlc_session_arena_bytes(dlc_session *session, uint64_t *bytes) {
  return with(session, [&](Session &self) {
    return bytes ? self.arenaBytes(*bytes) : missing("bytes");
  });
}

dlc_status dlc_session_bind_arena(dlc_session *session, void *memory,
                                  uint64_t bytes) {
  return with(session,
              [&](Session &self) { return self.bindArena(memory, bytes); });
}

dlc_status dlc_session_set_profiler(dlc_session *session,
                                    dlc_profiler_callback callback,
                                    void *user) {
  return with(session, [&](Session &self) {
    self.setProfiler(callback, user);
    return Status();
  });
}

dlc_status dlc_session_run(dlc_session *session) {
  return with(session, [&](Session &self) { return self.run(std::nullopt); });
}

dlc_status dlc_session_run_on(dlc_session *session, void *stream) {
  return with(session, [&](Session &self) { return self.run(stream); });
}

dlc_status dlc_session_stream(dlc_session *session, void **stream) {
  return with(session, [&](Session &self) {
    if (!stream)
      return missing("stream");
    *stream = self.stream();
    return Status();
  });
}

dlc_status dlc_session_wait(dlc_session *session) {
  return with(session, [&](Session &self) { return self.wait(); });
}

dlc_status dlc_session_output(dlc_session *session, size_t index,
                              dlc_tensor *tensor) {
  return with(session, [&](Session &self) {
    return tensor ? self.output(index, *tensor) : missing("tensor");
  });
}

dlc_status dlc_session_allocate(dlc_session *session, uint64_t bytes,
                                void **memory) {
  return with(session, [&](Session &self) {
    return memory ? self.allocate(bytes, *memory) : missing("memory");
  });
}

void dlc_session_release(dlc_session *session, void *memory) {
  if (session && memory)
    session->session->release(memory);
}

dlc_status dlc_session_copy_from_host(dlc_session *session,
                                      const dlc_tensor *to, const void *from) {
  return with(session, [&](Session &self) {
    if (!to || (!from && to->bytes))
      return missing(to ? "from" : "to");
    return self.copyFromHost(*to, from);
  });
}

dlc_status dlc_session_copy_to_host(dlc_session *session, void *to,
                                    const dlc_tensor *from) {
  return with(session, [&](Session &self) {
    if (!from || (!to && from->bytes))
      return missing(from ? "to" : "from");
    return self.copyToHost(to, *from);
  });
}

dlc_status dlc_session_reset_state(dlc_session *session) {
  return with(session, [&](Session &self) {
    self.resetState();
    return Status();
  });
}
