// SPDX-License-Identifier: Apache-2.0
// What an emitter makes of one unit: kernels with their arguments, in order.
#pragma once

#include "ir/Graph.h"

namespace dlc::codegen {

/// One kernel as source text. Kernels of equal text are compiled once.
struct KernelSource {
  /// `dlc_<kind>_<types>_<config>_<hash8>`; the hash leaves comments out.
  std::string name;
  /// The translation unit. Lowering puts the names of kernel and nodes on top.
  std::string text;
  unsigned threads = 256;   ///< per block
  unsigned smemBytes = 0;   ///< dynamic shared memory
  unsigned cluster = 1;     ///< blocks along x
  bool pdl = true;          ///< executes pdl_wait
  bool cooperative = false; ///< all blocks must be resident at once
  unsigned maps = 0, buffers = 0, cells = 0, symbols = 0;

  unsigned parameterBytes() const {
    return std::max(8u, maps * 128 + (buffers + cells + symbols) * 8);
  }
};

/// The memory behind a kernel's parameter.
struct BufferRef {
  enum class Kind : uint8_t { Input, Result, Workspace, Weight };
  Kind kind = Kind::Input;
  unsigned index = 0; ///< of the unit's input, result, or the workspace
  Constant constant;  ///< Weight
  static BufferRef input(unsigned i) { return {Kind::Input, i, {}}; }
  static BufferRef result(unsigned i) { return {Kind::Result, i, {}}; }
  static BufferRef workspace(unsigned i) { return {Kind::Workspace, i, {}}; }
  static BufferRef weight(Constant c) {
    return {Kind::Weight, 0, std::move(c)};
  }
};

/// A tensor map over a buffer, dimensions innermost first, swizzled by 128
/// bytes (arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col).
struct TensorMapRef {
  BufferRef buffer;
  DataType element = DataType::F16;
  Dim offset = 0;                    ///< bytes
  std::vector<Dim> dims;             ///< elements
  std::vector<Dim> strides;          ///< bytes, of dimensions 1 and up
  std::vector<uint32_t> box;         ///< tiled
  bool im2col = false;               ///< then channels, x, y, image
  std::vector<int32_t> lower, upper; ///< corners of x and y
  std::vector<uint32_t> steps;       ///< strides of x and y
  uint32_t channels = 0, pixels = 0;
};

/// Elements of a value up to which kernels count in 32 bits: 2^31 less a tile.
inline constexpr int64_t kNarrowElements =
    (int64_t(1) << 31) - (int64_t(1) << 20);

/// A launch of `kernel`: its parameter's members in order.
struct Launch {
  KernelSource kernel;
  Dim grid[3] = {1, 1, 1}; ///< blocks; zero blocks are skipped
  std::vector<TensorMapRef> maps;
  std::vector<BufferRef> buffers;
  std::vector<std::string> cells; ///< symbols whose home is a device cell
  std::vector<Dim> symbols;
  /// Element counts that must be at most kNarrowElements: the kernel counts in
  /// 32 bits, and they have no bound that is known.
  std::vector<Dim> limited;
};
/// Bytes `value` (repeated) over a whole buffer.
struct FillBytes {
  BufferRef buffer;
  Dim bytes;
  uint8_t value = 0;
};
/// A kernel computes a symbol: its cell is the first element (i64) of `cell`.
struct DefineCell {
  std::string symbol;
  BufferRef cell;
};
using EmittedStep = std::variant<Launch, FillBytes>;

struct Workspace {
  DataType element = DataType::U8;
  Dim elements;
  /// Name of the symbol that it is the device cell of, or empty.
  std::string cellOf;
};

struct Emission {
  std::vector<Workspace> workspaces;
  std::vector<EmittedStep> steps;
  /// One line for the report: emitter, configuration, reasons.
  std::string report;
  /// What the emitter's own model says; 0: moving operands and results decides.
  double microseconds = 0;
  int64_t flops = 0;
};

} // namespace dlc::codegen
