// SPDX-License-Identifier: Apache-2.0
// An array in memory, and the file formats that the tools read and write.
#pragma once

#include "dlc/runtime.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlc::tools {

/// A sentence for the user; main() prints it.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Array {
  dlc_type type = DLC_F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes; ///< dense, row-major, little-endian

  uint64_t count() const;
  dlc_tensor view();
  /// Element i as a number; f16, bf16 and the 8-bit floats are widened.
  double at(uint64_t i) const;
  /// Rounds to nearest, ties to even.
  void set(uint64_t i, double value);
};

/// What an array of this type and shape takes; `path` is the file that says so.
uint64_t arrayBytes(dlc_type type, const std::vector<int64_t> &dims,
                    const std::string &path = "");

/// An array of this type and shape, of zeros.
Array makeArray(dlc_type type, const std::vector<int64_t> &dims);

/// "1x3x224x224"; "scalar" for rank 0.
std::string shapeText(const std::vector<int64_t> &dims);

/// Reads .npy, .pb (an ONNX TensorProto), or one array of an .npz, named as
/// FILE.npz:KEY, or FILE.npz where it holds one array. Files are not trusted.
Array readArray(const std::string &path);

/// NumPy has no bf16, 8-bit floats or 4-bit integers: an array of u16, u8 or
/// raw bytes is taken for them where an input has such a type, and one of
/// numbers that fit for 4 bits.
Array asType(Array array, dlc_type type);

/// Writes an .npy; types that NumPy does not have as the integers above.
void writeNpy(const std::string &path, const Array &array);

// The same for code without exceptions; `error` is the sentence.
std::optional<Array> readArray(const std::string &path, dlc_type wanted,
                               std::string &error) noexcept;
bool writeNpy(const std::string &path, const Array &array,
              std::string &error) noexcept;

// ---- for the readers ----

std::vector<uint8_t> readFile(const std::string &path);
Array parseNpy(const std::vector<uint8_t> &file, const std::string &path);
Array parseTensorProto(const std::vector<uint8_t> &file,
                       const std::string &path);
/// The member `key` ("" for the only one) of a zip file.
std::vector<uint8_t> readZipMember(const std::vector<uint8_t> &file,
                                   const std::string &key,
                                   const std::string &path);

} // namespace dlc::tools
