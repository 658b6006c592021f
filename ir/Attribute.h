// SPDX-License-Identifier: Apache-2.0
// Attributes of ops: compile-time data of the kinds that OpBase.td names.
#pragma once

#include "ir/Constant.h"
#include <variant>

namespace dlc {

/// Empty: the attribute is absent (optional) or at its default.
using Attribute = std::variant<std::monostate, bool, int64_t, double,
                               std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>,
                               std::vector<Dim>, DataType, Layout, Constant>;

} // namespace dlc
