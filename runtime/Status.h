// SPDX-License-Identifier: Apache-2.0
// Success, or a code and a sentence: how everything in the runtime fails.
#pragma once

#include "dlc/runtime.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dlc {

class [[nodiscard]] Status {
public:
  Status() = default;
  /// A failure. The sentence starts lower case and has no full stop.
  Status(dlc_status code, std::string sentence)
      : Code(code), Sentence(std::move(sentence)) {}

  bool ok() const { return Code == DLC_OK; }
  dlc_status code() const { return Code; }
  const std::string &sentence() const { return Sentence; }

  /// The same failure, with where it happened in front.
  Status in(std::string_view place) && {
    if (!ok())
      Sentence.insert(0, std::string(place) + ": ");
    return std::move(*this);
  }

private:
  dlc_status Code = DLC_OK;
  std::string Sentence;
};

namespace detail {
inline void append(std::string &out, std::string_view text) { out += text; }
template <class T>
requires std::is_integral_v<T>
void append(std::string &out, T value) { out += std::to_string(value); }
} // namespace detail

/// Joins texts and integers: say("got ", 3, ", expected ", 4).
template <class... Parts> std::string say(const Parts &...parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

} // namespace dlc

/// Returns from the calling function when the expression failed.
#define DLC_RETURN_IF_FAILED(expression)                                       \
  do {                                                                         \
    if (::dlc::Status status_ = (expression); !status_.ok())                   \
      return status_;                                                          \
  } while (0)
