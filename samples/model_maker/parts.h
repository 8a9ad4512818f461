// SPDX-License-Identifier: MIT
// Short functions that describe the sample models.
#pragma once

#include "model.h"

#include <initializer_list>

namespace plush::samples {

/// A ball, blended over `blend` metres with the blobs before it.
inline Blob Ball(const Vec3d& centre, double radius, double blend) {
  Blob blob{Ellipsoid{centre, {radius, radius, radius}, {}}};
  blob.blend = blend;
  return blob;
}

/// An ellipsoid.
inline Blob Egg(const Vec3d& centre, const Vec3d& radii, double blend, const Frame& frame = {}) {
  Blob blob{Ellipsoid{centre, radii, frame}};
  blob.blend = blend;
  return blob;
}

/// A tube through `points`.
inline Blob Limb(std::initializer_list<TubePoint> points, double blend) {
  Blob blob{Tube(points)};
  blob.blend = blend;
  return blob;
}

/// The blob, with triangle edges of `edge` metres.
inline Blob Finer(Blob blob, double edge) {
  blob.edge = edge;
  return blob;
}

/// The blob, subtracted instead of added.
inline Blob Carved(Blob blob) {
  blob.carve = true;
  return blob;
}

/// Paints the surface inside `blob`.
inline Paint Painted(size_t material, const Blob& blob) { return {material, Solid{{blob}}}; }

/// `v` mirrored in the plane x = 0.
inline Vec3d Mirrored(const Vec3d& v) { return {-v.x, v.y, v.z}; }

/// The frame whose ellipsoids mirror those of `frame`. Handedness does not matter, because
/// ellipsoids are symmetric.
inline Frame Mirrored(const Frame& frame) {
  return {Mirrored(frame.x), Mirrored(frame.y), Mirrored(frame.z)};
}

/// `v` itself if `side` > 0, otherwise its mirror image.
inline Vec3d OnSide(int side, const Vec3d& v) { return side > 0 ? v : Mirrored(v); }
inline Frame FrameOnSide(int side, const Frame& frame) {
  return side > 0 ? frame : Mirrored(frame);
}

}  // namespace plush::samples
