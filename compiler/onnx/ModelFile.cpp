// SPDX-License-Identifier: Apache-2.0
// Walks the wire format of an ONNX file and takes the large tensors out.
#include "compiler/onnx/ModelFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

using namespace dlc;

namespace {

enum class Message { Model, Graph, Node, Attribute, Tensor, Function, None };

/// The message that `field` of `parent` holds, as far as tensors lie below it.
Message messageOf(Message parent, uint64_t field) {
  switch (parent) {
  case Message::Model:
    return field == 7    ? Message::Graph
           : field == 25 ? Message::Function
                         : Message::None;
  case Message::Graph:
    return field == 1   ? Message::Node
           : field == 5 ? Message::Tensor
                        : Message::None;
  case Message::Node:
    return field == 5 ? Message::Attribute : Message::None;
  case Message::Attribute:
    return field == 5 || field == 10   ? Message::Tensor
           : field == 6 || field == 11 ? Message::Graph
                                       : Message::None;
  case Message::Function:
    return field == 7    ? Message::Node
           : field == 11 ? Message::Attribute
                         : Message::None;
  case Message::Tensor:
  case Message::None:
    return Message::None;
  }
  return Message::None;
}

constexpr uint64_t kRawData = 9, kMappedOffset = 50000, kMappedBytes = 50001;
constexpr uint64_t kLeaveFrom = 1024; // bytes of raw data
constexpr unsigned kDeepest = 90;     // below protobuf's own limit of 100

class Walker {
public:
  explicit Walker(llvm::ArrayRef<uint8_t> file) : file(file) {}

  /// Appends the message at [position, end) without its large tensors to `out`.
  llvm::Error walk(Message kind, uint64_t position, uint64_t end,
                   unsigned depth, std::string &out) {
    if (depth > kDeepest)
      return fault("messages nest deeper than " + llvm::Twine(kDeepest));
    while (position < end) {
      uint64_t start = position, tag, length = 0;
      if (llvm::Error e = varint(position, end, tag))
        return e;
      uint64_t field = tag >> 3;
      switch (tag & 7) {
      case 0:
        if (llvm::Error e = varint(position, end, length))
          return e;
        length = 0;
        break;
      case 1:
        length = 8;
        break;
      case 2:
        if (llvm::Error e = varint(position, end, length))
          return e;
        break;
      case 5:
        length = 4;
        break;
      default:
        return fault("byte " + llvm::Twine(start) +
                     " starts a field of wire type " + llvm::Twine(tag & 7));
      }
      if (field == 0)
        return fault("byte " + llvm::Twine(start) + " starts a field number 0");
      if (length > end - position)
        return fault("truncated: the field at byte " + llvm::Twine(start) +
                     " needs " + llvm::Twine(length) + " bytes, " +
                     llvm::Twine(end - position) + " are left");
      Message child = (tag & 7) == 2 ? messageOf(kind, field) : Message::None;
      if (child != Message::None) {
        std::string inner;
        if (llvm::Error e =
                walk(child, position, position + length, depth + 1, inner))
          return e;
        appendVarint(out, tag);
        appendVarint(out, inner.size());
        out += inner;
      } else if (kind == Message::Tensor && field == kRawData &&
                 (tag & 7) == 2 && length >= kLeaveFrom) {
        appendVarint(out, kMappedOffset << 3);
        appendVarint(out, position);
        appendVarint(out, kMappedBytes << 3);
        appendVarint(out, length);
      } else if (kind != Message::Tensor ||
                 (field != kMappedOffset && field != kMappedBytes)) {
        out.append(reinterpret_cast<const char *>(file.data()) + start,
                   position + length - start);
      }
      position += length;
    }
    return llvm::Error::success();
  }

private:
  llvm::Error fault(const llvm::Twine &what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
  }
  llvm::Error varint(uint64_t &position, uint64_t end, uint64_t &value) {
    uint64_t start = position;
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position == end)
        return fault("truncated inside the number at byte " +
                     llvm::Twine(start));
      uint8_t byte = file[position++];
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return llvm::Error::success();
    }
    return fault("the number at byte " + llvm::Twine(start) +
                 " has more than ten bytes");
  }
  static void appendVarint(std::string &out, uint64_t value) {
    uint8_t buffer[10];
    unsigned n = llvm::encodeULEB128(value, buffer);
    out.append(reinterpret_cast<const char *>(buffer), n);
  }

  llvm::ArrayRef<uint8_t> file;
};

} // namespace

llvm::Expected<std::unique_ptr<ModelFile>>
ModelFile::open(llvm::StringRef path) {
  auto fault = [&](const llvm::Twine &what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": " + what);
  };
  // A device may have no end.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      (status.type() == llvm::sys::fs::file_type::character_file ||
       status.type() == llvm::sys::fs::file_type::block_file))
    return fault("is a device, expected a file with an ONNX model");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fault("cannot be read: " + buffer.getError().message());
  std::unique_ptr<ModelFile> result(new ModelFile);
  result->filePath = path.str();
  result->file = std::move(*buffer);
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(result->file->getBufferStart()),
      result->file->getBufferSize());
  if (bytes.empty())
    return fault("is empty, expected an ONNX model");

  std::string skeleton;
  if (llvm::Error e =
          Walker(bytes).walk(Message::Model, 0, bytes.size(), 0, skeleton))
    return fault("not an ONNX model, or a damaged one: " +
                 llvm::toString(std::move(e)));
  if (skeleton.size() > size_t(INT32_MAX))
    return fault("holds over 2 GB beside the raw data of its tensors; store "
                 "the weights as raw_data or as external data");
  if (!result->proto.ParseFromString(skeleton))
    return fault("not an ONNX model, or a damaged one: protobuf refuses its "
                 "messages");
  if (!result->proto.has_graph())
    return fault("not an ONNX model: it holds no graph");
  return result;
}
