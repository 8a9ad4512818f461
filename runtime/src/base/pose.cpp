// SPDX-License-Identifier: MIT
// Here and not in the header, so that a game's compiler flags do not change how it rounds.
#include "plush/pose.h"

#include <cmath>

namespace plush {

Rotation Normalised(const Rotation& q) {
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(length > 0.0) || !std::isfinite(length)) return {};
  return {q.x / length, q.y / length, q.z / length, q.w / length};
}

Rotation RotationOf(const Quat& q) { return Normalised({q.x, q.y, q.z, q.w}); }
Quat ToQuat(const Rotation& q) {
  return {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z),
          static_cast<float>(q.w)};
}

Rotation Conjugate(const Rotation& q) { return {-q.x, -q.y, -q.z, q.w}; }

Rotation operator*(const Rotation& a, const Rotation& b) {
  return {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

void Turn(const Rotation& q, double* v) {
  const double cx = 2.0 * (q.y * v[2] - q.z * v[1]), cy = 2.0 * (q.z * v[0] - q.x * v[2]),
               cz = 2.0 * (q.x * v[1] - q.y * v[0]);
  v[0] += q.w * cx + q.y * cz - q.z * cy;
  v[1] += q.w * cy + q.z * cx - q.x * cz;
  v[2] += q.w * cz + q.x * cy - q.y * cx;
}

Rotation Slerp(const Rotation& a, const Rotation& b, double t) {
  const double cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  Rotation low = a, high = b;
  if (cosine < 0.0) high = {-b.x, -b.y, -b.z, -b.w};
  if (t <= 0.0) return low;
  if (t >= 1.0) return high;
  for (int i = 0; i < 32; ++i) {
    const Rotation middle =
        Normalised({low.x + high.x, low.y + high.y, low.z + high.z, low.w + high.w});
    t *= 2.0;
    if (t >= 1.0) {
      low = middle;
      t -= 1.0;
    } else {
      high = middle;
    }
  }
  return low;
}

Pose operator*(const Pose& a, const Pose& b) {
  const Rotation q = RotationOf(a.rotation);
  double p[3] = {b.position.x, b.position.y, b.position.z};
  Turn(q, p);
  return {{static_cast<float>(p[0] + double(a.position.x)),
           static_cast<float>(p[1] + double(a.position.y)),
           static_cast<float>(p[2] + double(a.position.z))},
          ToQuat(Normalised(q * RotationOf(b.rotation)))};
}

Pose Inverse(const Pose& a) {
  const Rotation q = Conjugate(RotationOf(a.rotation));
  double p[3] = {-double(a.position.x), -double(a.position.y), -double(a.position.z)};
  Turn(q, p);
  return {{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])},
          ToQuat(q)};
}

Pose Interpolated(const Pose& a, const Pose& b, double t) {
  const auto mix = [t](float from, float to) {
    return static_cast<float>(double(from) * (1.0 - t) + double(to) * t);  // exact at both ends
  };
  return {{mix(a.position.x, b.position.x), mix(a.position.y, b.position.y),
           mix(a.position.z, b.position.z)},
          ToQuat(Slerp(RotationOf(a.rotation), RotationOf(b.rotation), t))};
}

}  // namespace plush
