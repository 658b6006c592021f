// SPDX-License-Identifier: Apache-2.0
// Tensors of an ONNX file as constants, wherever their bytes are kept.
#pragma once

#include "compiler/onnx/ModelFile.h"
#include "llvm/ADT/StringMap.h"

namespace dlc {

/// The element type of ONNX's number for it; nothing where dlc has none.
std::optional<DataType> elementTypeOf(int onnxType);
/// `FLOAT`, `INT64`, ...: as ONNX spells it; the number itself where unknown.
std::string onnxTypeName(int onnxType);
/// The sentence that refuses a type: `element type STRING is not supported:
/// supported are ...`.
std::string unsupportedType(int onnxType);

class TensorReader {
public:
  explicit TensorReader(const ModelFile &file) : file(file) {}

  /// Raw data that was left in the file or lies in an external file is mapped,
  /// not copied. Every size is checked; external files must lie in the
  /// model's folder.
  llvm::Expected<Constant> read(const onnx::TensorProto &tensor);
  /// A sparse tensor, made dense.
  llvm::Expected<Constant> read(const onnx::SparseTensorProto &tensor);

private:
  llvm::Expected<std::shared_ptr<const ConstantBytes>>
  readExternal(const onnx::TensorProto &tensor, int64_t expected);
  llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>>
  openExternal(llvm::StringRef location);

  const ModelFile &file;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> externalFiles;
};

} // namespace dlc
