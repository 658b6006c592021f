// SPDX-License-Identifier: Apache-2.0
// Tensors in files, by the reader and the writer of the runtime's tools.
#include "compiler/tools/TensorFile.h"

#include "runtime/tools/Array.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

namespace dlc {

using llvm::StringRef;
using reference::Tensor;

static constexpr std::pair<DataType, dlc_type> kTypes[] = {
    {DataType::F64, DLC_F64},       {DataType::F32, DLC_F32},
    {DataType::F16, DLC_F16},       {DataType::BF16, DLC_BF16},
    {DataType::F8E4M3, DLC_F8E4M3}, {DataType::F8E5M2, DLC_F8E5M2},
    {DataType::I64, DLC_I64},       {DataType::I32, DLC_I32},
    {DataType::I16, DLC_I16},       {DataType::I8, DLC_I8},
    {DataType::I4, DLC_I4},         {DataType::U64, DLC_U64},
    {DataType::U32, DLC_U32},       {DataType::U16, DLC_U16},
    {DataType::U8, DLC_U8},         {DataType::U4, DLC_U4},
    {DataType::Bool, DLC_BOOL}};
static_assert(std::size(kTypes) == size_t(DataType::Bool) + 1);

dlc_type runtimeType(DataType type) {
  return llvm::find_if(kTypes, [&](auto &t) { return t.first == type; })
      ->second;
}

llvm::Expected<Tensor> readTensor(StringRef path, DataType expected) {
  std::string sentence;
  std::optional<tools::Array> array =
      tools::readArray(path.str(), runtimeType(expected), sentence);
  if (!array)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), sentence);
  DataType type = llvm::find_if(kTypes, [&](auto &t) {
                    return t.second == array->type;
                  })->first;
  Tensor tensor(type, array->dims);
  DLC_CHECK(uint64_t(tensor.byteSize()) == array->bytes.size());
  if (!array->bytes.empty())
    std::memcpy(tensor.data(), array->bytes.data(), array->bytes.size());
  return tensor;
}

llvm::Error writeNpy(StringRef path, const Tensor &tensor) {
  tools::Array array;
  array.type = runtimeType(tensor.element());
  array.dims = tensor.shape();
  array.bytes.assign(tensor.data(), tensor.data() + tensor.byteSize());
  std::string sentence;
  if (tools::writeNpy(path.str(), array, sentence))
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), sentence);
}

std::string npyPath(StringRef folder, StringRef name) {
  std::string file = name.str() + ".npy";
  for (size_t i = 0; i < name.size(); i++)
    if (!llvm::isAlnum(file[i]))
      file[i] = '_';
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

} // namespace dlc
