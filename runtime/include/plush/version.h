// SPDX-License-Identifier: MIT
// Version of the library; the file format has its own, in plush/asset.h.
#pragma once

namespace plush {

inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;
inline constexpr char kVersionString[] = "0.1.0";

}  // namespace plush
