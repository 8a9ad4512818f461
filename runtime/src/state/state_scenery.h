// SPDX-License-Identifier: MIT
// What of the world besides bodies is in a state, as records and back: colliders, attachments,
// contacts between bodies and forces. Their checks are StateReader's.
#pragma once

#include "state/state_format.h"
#include "world/world_impl.h"

#include <algorithm>
#include <iterator>

namespace plush {

inline void Copy(const Vec3& v, float (&out)[3]) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
}

inline void Copy(const Vec4& v, float (&out)[4]) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
  out[3] = v.w;
}

inline Vec3 ToVec3(const float (&v)[3]) { return {v[0], v[1], v[2]}; }

inline Vec4 ToVec4(const float (&v)[4]) { return {v[0], v[1], v[2], v[3]}; }

inline StatePose Saved(const Pose& pose) {
  const Vec3& p = pose.position;
  const Quat& q = pose.rotation;
  return {{p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}};
}

inline StateFilter Saved(const Filter& filter) {
  return {filter.category, filter.mask, filter.group};
}

inline Filter ToFilter(const StateFilter& f) { return {f.category, f.mask, f.group}; }

/// `first_point`: of a hull, in the state.
StateCollider Saved(const Collider& collider, uint32_t slot, uint32_t first_point);
/// `hull`: of a hull; `mesh`: of a height field or mesh.
Collider ToCollider(const StateCollider& c, uint64_t id, Hull* hull, const TriangleSource& mesh);

StateAttachment Saved(const Attachment& attachment, const AttachmentRow& row);
/// Without ids.
Attachment ToAttachment(const StateAttachment& a);

/// `end`: of its contacts in the state.
StatePair Saved(const TouchingPair& pair, uint32_t end);
StateBodyContact Saved(const PastContact& contact);

StateForce Saved(const PendingForce& force);
PendingForce ToForce(const StateForce& f);

}  // namespace plush
