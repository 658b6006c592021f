// SPDX-License-Identifier: Apache-2.0
// Tensors whose bytes lie in files beside the model.
#include "compiler/onnx/TensorReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace dlc;
namespace path = llvm::sys::path;

static llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>>
TensorReader::openExternal(llvm::StringRef location) {
  auto known = externalFiles.find(location);
  if (known != externalFiles.end())
    return known->second;
  std::string name = "external data file \"" + location.str() + "\"";
  bool climbs =
      llvm::any_of(llvm::make_range(path::begin(location), path::end(location)),
                   [](llvm::StringRef part) { return part == ".."; });
  if (location.empty() || path::is_absolute(location) || climbs ||
      location.contains('\0') || location.contains('\\'))
    return fault(name + " is refused: expected a path inside the model's "
                        "folder");
  llvm::SmallString<256> folder(path::parent_path(file.path()));
  if (folder.empty())
    folder = ".";
  llvm::SmallString<256> whole(folder), realFolder, realWhole;
  path::append(whole, location);
  if (std::error_code e = llvm::sys::fs::real_path(folder, realFolder))
    return fault(name + " cannot be found: " + e.message());
  if (std::error_code e = llvm::sys::fs::real_path(whole, realWhole))
    return fault(name + " cannot be read: " + e.message());
  // A link may lead outside, whatever the path looks like.
  llvm::StringRef rest(realWhole);
  bool inside = rest.consume_front(realFolder) &&
                (rest.starts_with("/") || realFolder == "/");
  if (!inside)
    return fault(name + " is refused: it is a link that leaves the model's "
                        "folder");
  bool regular = false;
  if (llvm::sys::fs::is_regular_file(realWhole, regular) || !regular)
    return fault(name + " is not a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(realWhole, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fault(name + " cannot be read: " + buffer.getError().message());
  return externalFiles[location] = std::move(*buffer);
}

llvm::Expected<std::shared_ptr<const ConstantBytes>>
TensorReader::readExternal(const onnx::TensorProto &tensor, int64_t expected) {
  llvm::StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    llvm::StringRef key = entry.key(), value = entry.value();
    uint64_t number = 0;
    if (key == "location") {
      location = value;
    } else if (key == "offset" || key == "length") {
      if (value.getAsInteger(10, number))
        return fault("external data: " + key + " is \"" + value +
                     "\", expected a number");
      if (key == "offset")
        offset = number;
      else
        length = number;
    }
  }
  if (length && *length != uint64_t(expected))
    return fault("external data: length is " + llvm::Twine(*length) +
                 ", its type needs " + llvm::Twine(expected) + " bytes");
  auto buffer = openExternal(location);
  if (!buffer)
    return buffer.takeError();
  uint64_t size = (*buffer)->getBufferSize();
  if (offset > size || uint64_t(expected) > size - offset)
    return fault("external data file \"" + location + "\" has " +
                 llvm::Twine(size) + " bytes, expected " +
                 llvm::Twine(expected) + " at offset " + llvm::Twine(offset));
  return std::make_shared<MappedBytes>(
      *buffer, llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(
                                           (*buffer)->getBufferStart()) +
                                           offset,
                                       size_t(expected)));
}
