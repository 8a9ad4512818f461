// SPDX-License-Identifier: MIT
// Values that several parts of a scene file have: vectors, poses, filters, motions.
#pragma once

#include "plush/body.h"
#include "plush/types.h"

#include "base/json_object.h"
#include "simulate/motion.h"

#include <string>

namespace plush::tools {

/// Reads three numbers. Returns whether it stored them.
bool ReadVec3(const JsonObject& object, const char* key, Vec3* out);

/// Reads the keys "position" and "rotation" of `object`. A rotation [x, y, z, w] must be within 1%
/// of unit length, because people type few digits; it is stored at unit length.
void ReadPose(const JsonObject& object, Pose* out);

/// Reads the key "filter": an object with "category", "mask" and "group".
void ReadFilter(const JsonObject& object, Filter* out, std::string* mistake);

/// Reads the key "mask": bits, 0 to 2^32 - 1.
void ReadMask(const JsonObject& object, uint32_t* out);

/// Reads the key "motion": an array of objects with "t", "position" and optionally "rotation", by
/// ascending t. Absent: the motion stays empty.
void ReadMotion(const JsonObject& object, Motion* out, std::string* mistake);

}  // namespace plush::tools
