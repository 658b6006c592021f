// SPDX-License-Identifier: Apache-2.0
// Says of which type files are, with a model that is compiled in:
// filetype [--host] FILE...    (--host: on this machine's CPU)
#include "dlc/runtime.h"
#include "magika.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

static const char *const labels[] = {
#include "labels.inc"
};
constexpr int64_t half = 1024, padding = 256;

static void check(dlc_status status) {
  if (status == DLC_OK)
    return;
  std::fprintf(stderr, "filetype: %s\n", dlc_last_error());
  std::exit(1);
}

/// The first and the last 1,024 bytes, as the model takes them: white space
/// around the content left out, 256 where there is no byte.
static std::vector<int32_t> features(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (file.peek() == EOF && !file.eof()) {
    std::fprintf(stderr, "filetype: %s: cannot be read\n", path);
    std::exit(1);
  }
  std::vector<unsigned char> bytes(std::istreambuf_iterator<char>(file), {});
  auto space = [](unsigned char c) { return std::strchr(" \t\n\r\v\f", c); };
  auto first = std::find_if_not(bytes.begin(), bytes.end(), space);
  auto last = std::find_if_not(bytes.rbegin(), bytes.rend(), space).base();
  int64_t length = std::max<int64_t>(last - first, 0);
  int64_t count = std::min(length, half);
  std::vector<int32_t> result(2 * half, padding);
  std::copy_n(first, count, result.begin());
  std::copy_n(last - count, count, result.end() - count);
  return result;
}

int main(int argc, char **argv) {
  bool host = argc > 1 && !std::strcmp(argv[1], "--host");
  if (argc < (host ? 3 : 2)) {
    std::fprintf(stderr, "usage: filetype [--host] FILE...\n");
    return 2;
  }
  dlc_bundle *bundle;
  check(dlc_bundle_open_memory(magika_bundle, magika_bundle_bytes, &bundle));
  dlc_session_options options;
  dlc_session_options_init(&options);
  options.device = host ? DLC_DEVICE_HOST : DLC_DEVICE_AUTO;
  dlc_session *session;
  check(dlc_session_create(bundle, &options, &session));
  for (int i = host ? 2 : 1; i < argc; ++i) {
    std::vector<int32_t> input = features(argv[i]);
    dlc_tensor bytes = {input.data(),
                        input.size() * sizeof(int32_t),
                        DLC_I32,
                        DLC_MEMORY_HOST,
                        2,
                        {1, 2 * half}};
    check(dlc_session_bind_input(session, 0, &bytes));
    check(dlc_session_run(session));
    dlc_tensor output;
    check(dlc_session_output(session, 0, &output));
    std::vector<float> scores(std::size(labels));
    check(dlc_session_copy_to_host(session, scores.data(), &output));
    size_t best =
        std::max_element(scores.begin(), scores.end()) - scores.begin();
    std::printf("%s: %s (%.3f)\n", argv[i], labels[best], scores[best]);
  }
  dlc_session_destroy(session);
  dlc_bundle_close(bundle);
}
