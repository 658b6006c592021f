// SPDX-License-Identifier: Apache-2.0
// An ONNX file on disk: mapped, with its large tensors left where they are.
#pragma once

#include "compiler/onnx/onnx.pb.h"
#include "ir/Constant.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dlc {

/// A range of a mapped file, kept open as long as somebody refers to it.
class MappedBytes : public ConstantBytes {
public:
  MappedBytes(std::shared_ptr<llvm::MemoryBuffer> file,
              llvm::ArrayRef<uint8_t> range)
      : file(std::move(file)), range(range) {}
  llvm::ArrayRef<uint8_t> bytes() const override { return range; }

private:
  std::shared_ptr<llvm::MemoryBuffer> file;
  llvm::ArrayRef<uint8_t> range;
};

/// protobuf reads messages below 2 GB only. So the file is walked by hand
/// first, raw data of tensors from 1 KB on stays in the mapped file, and what
/// is left is parsed.
class ModelFile {
public:
  /// Fails with a sentence on a file that is missing, truncated or no ONNX
  /// file.
  static llvm::Expected<std::unique_ptr<ModelFile>> open(llvm::StringRef path);
  const onnx::ModelProto &model() const { return proto; }
  llvm::StringRef path() const { return filePath; }
  const std::shared_ptr<llvm::MemoryBuffer> &buffer() const { return file; }

private:
  ModelFile() = default;
  std::string filePath;
  std::shared_ptr<llvm::MemoryBuffer> file;
  onnx::ModelProto proto;
};

} // namespace dlc
