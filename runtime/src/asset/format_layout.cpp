// SPDX-License-Identifier: MIT
// Ties the public types to the records of the schema. Where an assertion fails, the schema or
// plush/types.h changed alone: change both, kLayoutFingerprint, and the format version.

#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/layout_fingerprint.h"
#include "plush/format/tet_block.h"
#include "plush/types.h"

#include "plush_generated.h"

#include <cstddef>
#include <limits>
#include <type_traits>

namespace plush {
namespace {

template <class Public, class Stored>
constexpr bool kSameRecord =
    sizeof(Public) == sizeof(Stored) && alignof(Public) == alignof(Stored) &&
    std::is_trivially_copyable_v<Public>&& std::is_standard_layout_v<Public>;

static_assert(kSameRecord<Vec2, format::Vec2>);
static_assert(kSameRecord<Vec3, format::Vec3>);
static_assert(kSameRecord<Vec4, format::Vec4>);
static_assert(kSameRecord<Mat3, format::Mat3>);
static_assert(kSameRecord<Tet, format::Tet>);
static_assert(kSameRecord<TetBlock, format::TetBlock>);
static_assert(kSameRecord<Supernode, format::Supernode>);
static_assert(kSameRecord<CdgTet, format::CdgTet>);
static_assert(kSameRecord<CdgPatch, format::CdgPatch>);
static_assert(kSameRecord<CdgTriangle, format::CdgTriangle>);
static_assert(kSameRecord<CdgWideTriangle, format::CdgWideTriangle>);
static_assert(sizeof(float) == 4 && std::numeric_limits<float>::is_iec559);

// The value every build that can read today's files has, from format 0.4 on.
static_assert(kLayoutFingerprint == 0x4a32b71c9701d467u);

}  // namespace
}  // namespace plush
