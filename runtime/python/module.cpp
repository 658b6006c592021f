// SPDX-License-Identifier: Apache-2.0
// The C interface of the runtime for Python: dlc._runtime. Shapes, arrays and
// messages are made friendly in dlc/session.py.
#include "dlc/runtime.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>

namespace nb = nanobind;
using AnyArray = nb::ndarray<nb::c_contig>;
using AnyInput = nb::ndarray<nb::c_contig, nb::ro>;

namespace {

/// Carries a status over to Python, where it becomes a dlc.Error.
struct Failure : std::runtime_error {
  dlc_status status;
  Failure(dlc_status status, const std::string &sentence)
      : std::runtime_error(sentence), status(status) {}
};

void check(dlc_status status) {
  if (status != DLC_OK)
    throw Failure(status, dlc_last_error());
}

struct Bundle {
  dlc_bundle *handle = nullptr;
  nb::object memory; ///< keeps the bytes of an in-memory bundle
  ~Bundle() { dlc_bundle_close(handle); }
};

struct Session {
  dlc_session *handle = nullptr;
  nb::object bundle; ///< the bundle outlives its sessions
  std::vector<std::optional<AnyInput>> inputs; ///< arrays that are bound
  std::vector<std::optional<AnyArray>> outputs;
  ~Session() { dlc_session_destroy(handle); }
};

std::unique_ptr<Bundle> openFile(const std::string &path) {
  auto bundle = std::make_unique<Bundle>();
  check(dlc_bundle_open(path.c_str(), &bundle->handle));
  return bundle;
}

std::unique_ptr<Bundle> openBytes(nb::bytes bytes) {
  auto bundle = std::make_unique<Bundle>();
  bundle->memory = bytes;
  check(dlc_bundle_open_memory(bytes.data(), bytes.size(), &bundle->handle));
  return bundle;
}

nb::list variants(const Bundle &bundle) {
  nb::list result;
  for (size_t i = 0; i < dlc_bundle_variant_count(bundle.handle); ++i) {
    dlc_variant v;
    check(dlc_bundle_variant(bundle.handle, i, &v));
    nb::dict entry;
    entry["target"] = v.target;
    entry["precision"] = v.precision;
    entry["shapes"] = v.shapes;
    entry["least_driver"] = v.least_driver;
    entry["kernels"] = v.kernels;
    entry["weight_bytes"] = v.weight_bytes;
    result.append(entry);
  }
  return result;
}

std::unique_ptr<Session> createSession(nb::object bundle, int device,
                                       int deviceIndex,
                                       std::optional<std::string> target,
                                       std::optional<std::string> precision,
                                       int threads, uint64_t adversarialSeed,
                                       bool graphs) {
  dlc_session_options options;
  dlc_session_options_init(&options);
  options.device = static_cast<dlc_device>(device);
  options.device_index = deviceIndex;
  options.target = target ? target->c_str() : nullptr;
  options.precision = precision ? precision->c_str() : nullptr;
  options.threads = threads;
  options.adversarial_seed = adversarialSeed;
  options.graphs = graphs;
  auto session = std::make_unique<Session>();
  session->bundle = bundle;
  check(dlc_session_create(nb::cast<Bundle &>(bundle).handle, &options,
                           &session->handle));
  session->inputs.resize(dlc_session_input_count(session->handle));
  session->outputs.resize(dlc_session_output_count(session->handle));
  return session;
}

/// (name, type, dims, lower, upper) of each input or output.
template <typename Count, typename Port>
nb::list ports(const Session &session, Count count, Port read) {
  nb::list result;
  for (size_t i = 0; i < count(session.handle); ++i) {
    dlc_port port;
    check(read(session.handle, i, &port));
    nb::list dims, lower, upper;
    for (uint32_t d = 0; d < port.rank; ++d) {
      dims.append(port.dims[d]);
      lower.append(port.lower[d]);
      upper.append(port.upper[d]);
    }
    result.append(nb::make_tuple(port.name, dlc_type_name(port.type), dims,
                                 lower, upper));
  }
  return result;
}

/// An element type as DLPack describes it: "f64", "u8", "bf16".
std::string nameOf(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const char *name = type.code == uint8_t(Code::Int)      ? "i"
                     : type.code == uint8_t(Code::UInt)   ? "u"
                     : type.code == uint8_t(Code::Float)  ? "f"
                     : type.code == uint8_t(Code::Bfloat) ? "bf"
                     : type.code == uint8_t(Code::Bool)   ? nullptr
                                                          : "?";
  return name ? name + std::to_string(type.bits) : "bool";
}

/// Whether elements that DLPack describes so are those of `type`. Types that
/// NumPy has no name for come as unsigned integers of their size.
bool isType(nb::dlpack::dtype found, dlc_type type) {
  const std::string name = dlc_type_name(type), has = nameOf(found);
  if (found.lanes != 1)
    return false;
  const bool known = name == "bool" || name == "bf16" ||
                     (dlc_type_bits(type) >= 8 && name.find('e') == name.npos);
  return has == name || (name == "bf16" && has == "u16") ||
         (!known && found.bits == 8);
}

template <class Array>
dlc_tensor view(const Array &array, const std::string &what,
                const dlc_port &port, dlc_type type) {
  const std::string name = what + " '" + port.name + "'";
  if (!isType(array.dtype(), type))
    throw Failure(DLC_BAD_INPUT, name + " has type " + nameOf(array.dtype()) +
                                     ", expected " + dlc_type_name(type));
  dlc_tensor tensor = {};
  tensor.data = const_cast<void *>(static_cast<const void *>(array.data()));
  tensor.bytes = array.nbytes();
  tensor.type = type;
  tensor.memory = array.device_type() == nb::device::cpu::value
                      ? DLC_MEMORY_HOST
                      : DLC_MEMORY_DEVICE;
  if (array.ndim() > DLC_MAX_RANK)
    throw Failure(DLC_BAD_INPUT, name + " has rank " +
                                     std::to_string(array.ndim()) +
                                     ", at most 16 is supported");
  tensor.rank = static_cast<uint32_t>(array.ndim());
  for (uint32_t d = 0; d < tensor.rank; ++d)
    tensor.dims[d] = static_cast<int64_t>(array.shape(d));
  return tensor;
}

void bindInput(Session &session, size_t index, AnyInput array, int type) {
  dlc_port port;
  check(dlc_session_input_port(session.handle, index, &port));
  dlc_tensor tensor = view(array, "input", port, static_cast<dlc_type>(type));
  check(dlc_session_bind_input(session.handle, index, &tensor));
  session.inputs.at(index) = std::move(array);
}

void bindOutput(Session &session, size_t index, std::optional<AnyArray> array,
                int type) {
  if (!array) {
    check(dlc_session_bind_output(session.handle, index, nullptr));
    session.outputs.at(index).reset();
    return;
  }
  dlc_port port;
  check(dlc_session_output_port(session.handle, index, &port));
  dlc_tensor tensor = view(*array, "output", port, static_cast<dlc_type>(type));
  check(dlc_session_bind_output(session.handle, index, &tensor));
  session.outputs.at(index) = std::move(array);
}

/// Runs and waits. stream: a CUstream as a number; none: the session's own.
void runSession(Session &session, std::optional<uint64_t> stream) {
  dlc_status status;
  {
    nb::gil_scoped_release release;
    if (!stream) {
      status = dlc_session_run(session.handle);
    } else {
      status =
          dlc_session_run_on(session.handle, reinterpret_cast<void *>(*stream));
      if (status == DLC_OK)
        status = dlc_session_wait(session.handle);
    }
  }
  check(status);
}

uint64_t sessionStream(Session &session) {
  void *stream = nullptr;
  check(dlc_session_stream(session.handle, &stream));
  return reinterpret_cast<uint64_t>(stream);
}

/// (type, shape, bytes) of an output after a run.
nb::tuple describeOutput(Session &session, size_t index) {
  dlc_tensor tensor;
  check(dlc_session_output(session.handle, index, &tensor));
  nb::list dims;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    dims.append(tensor.dims[d]);
  return nb::make_tuple(dlc_type_name(tensor.type), dims, tensor.bytes);
}

/// Copies an output into a writable array of exactly its bytes.
void copyOutput(Session &session, size_t index,
                nb::ndarray<uint8_t, nb::c_contig, nb::device::cpu> to) {
  dlc_tensor tensor;
  check(dlc_session_output(session.handle, index, &tensor));
  if (to.nbytes() < tensor.bytes)
    throw Failure(DLC_INVALID_ARGUMENT, "the array is smaller than the output");
  check(dlc_session_copy_to_host(session.handle, to.data(), &tensor));
}

} // namespace

NB_MODULE(_runtime, m) {
  static nb::object error = nb::exception<Failure>(m, "RuntimeFailure");
  nb::register_exception_translator([](const std::exception_ptr &p, void *) {
    try {
      std::rethrow_exception(p);
    } catch (const Failure &failure) {
      PyErr_SetObject(
          error.ptr(),
          nb::make_tuple(static_cast<int>(failure.status), failure.what())
              .ptr());
    }
  });
  m.def("version", [] { return dlc_version(); });
  m.def("type_bits",
        [](int type) { return dlc_type_bits(static_cast<dlc_type>(type)); });
  m.def("type_names", [] {
    std::vector<std::string> names;
    for (int type = DLC_BOOL; type <= DLC_U4; ++type)
      names.emplace_back(dlc_type_name(static_cast<dlc_type>(type)));
    return names;
  });
  nb::class_<Bundle>(m, "Bundle")
      .def_static("open", &openFile)
      .def_static("open_bytes", &openBytes)
      .def("variants", &variants);
  nb::class_<Session>(m, "Session")
      .def_static("create", &createSession, nb::arg("bundle"),
                  nb::arg("device"), nb::arg("device_index"),
                  nb::arg("target").none(), nb::arg("precision").none(),
                  nb::arg("threads"), nb::arg("adversarial_seed"),
                  nb::arg("graphs"))
      .def("device_name",
           [](const Session &s) { return dlc_session_device_name(s.handle); })
      .def("inputs",
           [](const Session &s) {
             return ports(s, dlc_session_input_count, dlc_session_input_port);
           })
      .def("outputs",
           [](const Session &s) {
             return ports(s, dlc_session_output_count, dlc_session_output_port);
           })
      .def("bind_input", &bindInput)
      .def("bind_output", &bindOutput, nb::arg("index"),
           nb::arg("array").noconvert().none(), nb::arg("type"))
      .def("run", &runSession, nb::arg("stream").none())
      .def("stream", &sessionStream)
      .def("wait",
           [](Session &s) {
             nb::gil_scoped_release release;
             return dlc_session_wait(s.handle);
           })
      .def("describe_output", &describeOutput)
      .def("copy_output", &copyOutput)
      .def("reset_state",
           [](Session &s) { check(dlc_session_reset_state(s.handle)); });
}
