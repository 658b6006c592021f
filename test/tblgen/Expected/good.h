// SPDX-License-Identifier: Apache-2.0
// Written by dlc-tblgen from ir/*.td: every pointwise op, for one element of the
// type T that it computes in. Host and NVRTC compile this text.
#pragma once
#include "ir/scalar/Functions.h"

namespace dlc::scalar {

/// x0 + x1
template <class T> DLC_SCALAR T plus(T x0, T x1) { return sum(x0, x1); }

} // namespace dlc::scalar
