/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of dlc's runtime: bundle, session, tensor.
 *
 *   dlc_bundle *bundle;
 *   dlc_session *session;
 *   dlc_bundle_open("model.bundle", &bundle);
 *   dlc_session_create(bundle, NULL, &session);
 *   dlc_session_bind_input(session, 0, &image);
 *   dlc_session_run(session);
 *   dlc_session_output(session, 0, &scores);
 *
 * Every function that can fail returns a dlc_status; dlc_last_error() then
 * holds a sentence that says what was found and what was expected. Nothing
 * here prints, aborts or throws. A bundle may be used from many threads at
 * once; a session from one thread at a time, with one run in flight.
 *
 * A bundle is code: load only bundles whose maker you trust, as with a shared
 * library. */
#ifndef DLC_RUNTIME_H
#define DLC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DLC_API __attribute__((visibility("default")))
#else
#define DLC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dlc_status {
  DLC_OK = 0,
  DLC_INVALID_ARGUMENT = 1, /* a null pointer, an index out of range */
  DLC_NOT_FOUND = 2,        /* no such input, output, variant or file */
  DLC_BAD_BUNDLE = 3,       /* corrupted, truncated, foreign or too new */
  DLC_UNSUPPORTED = 4,      /* no variant fits the device or the shapes */
  DLC_BAD_INPUT = 5,        /* a tensor's type, rank or size */
  DLC_OUT_OF_MEMORY = 6,    /* on the host or on the device */
  DLC_NO_DEVICE = 7,        /* no driver, no GPU, no host engine */
  DLC_DRIVER_TOO_OLD = 8,   /* older than the bundle needs */
  DLC_DEVICE_ERROR = 9,     /* a call of the driver failed */
  DLC_KERNEL_ERROR = 10,    /* a kernel did what it must not */
  DLC_INTERNAL = 11         /* our mistake */
} dlc_status;

/* The sentence of the last call on this thread that failed; "" if none did.
 * Valid until the next call on this thread. */
DLC_API const char *dlc_last_error(void);

/* "0.1.0" */
DLC_API const char *dlc_version(void);

/* ---- tensors ------------------------------------------------------------ */

typedef enum dlc_type {
  DLC_BOOL = 0,
  DLC_I8 = 1,
  DLC_I16 = 2,
  DLC_I32 = 3,
  DLC_I64 = 4,
  DLC_U8 = 5,
  DLC_U16 = 6,
  DLC_U32 = 7,
  DLC_U64 = 8,
  DLC_F16 = 9,
  DLC_BF16 = 10,
  DLC_F32 = 11,
  DLC_F64 = 12,
  DLC_F8E4M3 = 13,
  DLC_F8E5M2 = 14,
  DLC_I4 = 15,
  DLC_U4 = 16
} dlc_type;

/* "f32"; "?" for a number that is no type. */
DLC_API const char *dlc_type_name(dlc_type type);
/* Bits of one element: 4, 8, 16, 32 or 64; 0 for a number that is no type. */
DLC_API uint32_t dlc_type_bits(dlc_type type);

#define DLC_MAX_RANK 16

typedef enum dlc_memory {
  DLC_MEMORY_HOST = 0,  /* ordinary memory */
  DLC_MEMORY_DEVICE = 1 /* of the session's device; on the host device the
                           two are the same */
} dlc_memory;

/* A dense row-major tensor in somebody's memory: a view that owns nothing. */
typedef struct dlc_tensor {
  void *data;
  uint64_t bytes; /* what may be used from data on */
  dlc_type type;
  dlc_memory memory;
  uint32_t rank;
  int64_t dims[DLC_MAX_RANK];
} dlc_tensor;

/* ---- bundles ------------------------------------------------------------ */

typedef struct dlc_bundle dlc_bundle;

/* Maps and checks a bundle. Opening runs nothing that it holds. */
DLC_API dlc_status dlc_bundle_open(const char *path, dlc_bundle **bundle);

/* The same over memory that the caller keeps, e.g. embedded in a program. It
 * must outlive the bundle and its sessions. Where it is not aligned to 256
 * bytes it is copied. */
DLC_API dlc_status dlc_bundle_open_memory(const void *data, size_t bytes,
                                          dlc_bundle **bundle);

/* Lets go of it; sessions that are still open keep what they need. */
DLC_API void dlc_bundle_close(dlc_bundle *bundle);

/* One build of the model: for a target, at a precision, for some shapes.
 * Strings live as long as the bundle. */
typedef struct dlc_variant {
  const char *target;    /* "sm_90a", "portable", "host" */
  const char *precision; /* "fp32", "fp16" ... */
  const char *shapes;    /* "x: 1..32x3x224x224, y: ..." */
  uint32_t least_driver; /* CUDA version, 12040 for 12.4; 0: none */
  size_t kernels;
  uint64_t weight_bytes;
} dlc_variant;

DLC_API size_t dlc_bundle_variant_count(const dlc_bundle *bundle);
DLC_API dlc_status dlc_bundle_variant(const dlc_bundle *bundle, size_t index,
                                      dlc_variant *variant);

/* ---- devices ------------------------------------------------------------ */

typedef enum dlc_device {
  DLC_DEVICE_AUTO = 0, /* a GPU; never the host */
  DLC_DEVICE_CUDA = 1,
  DLC_DEVICE_HOST = 2 /* runs the bundle's host code in this process */
} dlc_device;

/* ---- callbacks ---------------------------------------------------------- */

typedef enum dlc_log_level {
  DLC_LOG_DEBUG = 0,
  DLC_LOG_INFO = 1,
  DLC_LOG_WARNING = 2
} dlc_log_level;

typedef void (*dlc_log_callback)(void *user, dlc_log_level level,
                                 const char *message);

/* Told of each step after it has run; with a profiler steps run one by one. */
typedef struct dlc_step {
  const char *name;  /* the kernel, or "copy", "fill" ... */
  const char *nodes; /* ONNX nodes, joined by ", " */
  double microseconds;
  uint32_t grid[3]; /* zeros where it is no launch */
  uint32_t threads;
} dlc_step;

typedef void (*dlc_profiler_callback)(void *user, const dlc_step *step);

/* Called during a run for an output that is bound to no memory, with its true
 * shape. Returns memory of at least tensor->bytes, of the session's device, or
 * NULL to fail the run. */
typedef void *(*dlc_allocate_callback)(void *user, size_t output,
                                       const dlc_tensor *tensor);

/* ---- sessions ----------------------------------------------------------- */

typedef struct dlc_session dlc_session;

/* Fill it by dlc_session_options_init and change what you need. */
typedef struct dlc_session_options {
  size_t size; /* of this struct, for later versions */
  dlc_device device;
  int32_t device_index;      /* which GPU */
  const char *target;        /* only variants for this target; NULL: the best */
  const char *precision;     /* only variants of it; NULL: the first */
  int32_t variant;           /* only this one; -1: chosen by the shapes */
  int32_t threads;           /* host device: OS threads; 0: all cores */
  uint64_t adversarial_seed; /* host device: not 0: hostile schedules, checks */
  int32_t graphs;            /* CUDA: 1 replay graphs (default), 0 never */
  dlc_log_callback log;
  void *log_user;
} dlc_session_options;

DLC_API void dlc_session_options_init(dlc_session_options *options);

/* options may be NULL. */
DLC_API dlc_status dlc_session_create(dlc_bundle *bundle,
                                      const dlc_session_options *options,
                                      dlc_session **session);
DLC_API void dlc_session_destroy(dlc_session *session);

/* "NVIDIA H200 (sm_90), driver 13.0" or "host"; lives with the session. */
DLC_API const char *dlc_session_device_name(const dlc_session *session);

/* Which variant of the bundle serves the shapes of the bound inputs. */
DLC_API dlc_status dlc_session_variant(dlc_session *session, size_t *variant);

/* An input or output of the model. A dimension that the shapes decide is -1;
 * lower and upper are its bounds over all variants that the session may use
 * (of an output: 0 and INT64_MAX where it is not constant). */
typedef struct dlc_port {
  const char *name;
  dlc_type type;
  uint32_t rank;
  int64_t dims[DLC_MAX_RANK];
  int64_t lower[DLC_MAX_RANK];
  int64_t upper[DLC_MAX_RANK];
} dlc_port;

DLC_API size_t dlc_session_input_count(const dlc_session *session);
DLC_API size_t dlc_session_output_count(const dlc_session *session);
DLC_API dlc_status dlc_session_input_port(const dlc_session *session,
                                          size_t index, dlc_port *port);
DLC_API dlc_status dlc_session_output_port(const dlc_session *session,
                                           size_t index, dlc_port *port);
DLC_API dlc_status dlc_session_find_input(const dlc_session *session,
                                          const char *name, size_t *index);
DLC_API dlc_status dlc_session_find_output(const dlc_session *session,
                                           const char *name, size_t *index);

/* Gives an input. The memory is read by each run until another is bound; it
 * is not copied unless it is host memory and the device is a GPU. data may be
 * NULL to say the shape alone (for dlc_session_arena_bytes). */
DLC_API dlc_status dlc_session_bind_input(dlc_session *session, size_t index,
                                          const dlc_tensor *tensor);

/* Gives the memory of an output, at least as large as its size; rank and dims
 * are not looked at. NULL: the session keeps memory of its own. */
DLC_API dlc_status dlc_session_bind_output(dlc_session *session, size_t index,
                                           const dlc_tensor *tensor);

/* For outputs that are bound to no memory. NULL: the session's own memory. */
DLC_API dlc_status dlc_session_set_allocator(dlc_session *session,
                                             dlc_allocate_callback callback,
                                             void *user);

/* Bytes of scratch memory for the shapes of the bound inputs. */
DLC_API dlc_status dlc_session_arena_bytes(dlc_session *session,
                                           uint64_t *bytes);
/* Scratch memory of the caller, of the session's device, aligned to 256 bytes;
 * NULL: the session's own. */
DLC_API dlc_status dlc_session_bind_arena(dlc_session *session, void *memory,
                                          uint64_t bytes);

DLC_API dlc_status dlc_session_set_profiler(dlc_session *session,
                                            dlc_profiler_callback callback,
                                            void *user);

/* Runs and waits for the end. */
DLC_API dlc_status dlc_session_run(dlc_session *session);

/* Runs on the caller's CUstream and returns before the end where the model
 * allows. On a stream that is being captured the steps join the capture, if the
 * same run has been made before and needs no host; else it is refused before
 * the stream is touched. The host device ignores the stream. */
DLC_API dlc_status dlc_session_run_on(dlc_session *session, void *stream);

/* The CUstream that dlc_session_run uses, for callers that order work of their
 * own before or after it; NULL on the host device. It does not wait for the
 * default stream. */
DLC_API dlc_status dlc_session_stream(dlc_session *session, void **stream);

/* Waits for the run in flight; its errors come out here. */
DLC_API dlc_status dlc_session_wait(dlc_session *session);

/* An output's memory and true shape after a run; waits where the shape is
 * known only to the device. */
DLC_API dlc_status dlc_session_output(dlc_session *session, size_t index,
                                      dlc_tensor *tensor);

/* Memory of the session's device, aligned to 256 bytes, for callers that have
 * no way of their own to it. Released by the function beside it; the session
 * must still be there. */
DLC_API dlc_status dlc_session_allocate(dlc_session *session, uint64_t bytes,
                                        void **memory);
DLC_API void dlc_session_release(dlc_session *session, void *memory);

/* Copies a tensor (of either memory) from or to ordinary memory, and waits. */
DLC_API dlc_status dlc_session_copy_from_host(dlc_session *session,
                                              const dlc_tensor *to,
                                              const void *from);
DLC_API dlc_status dlc_session_copy_to_host(dlc_session *session, void *to,
                                            const dlc_tensor *from);

/* State (of recurrent models) back to where it started. */
DLC_API dlc_status dlc_session_reset_state(dlc_session *session);

#ifdef __cplusplus
}
#endif
#endif
