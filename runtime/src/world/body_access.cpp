// SPDX-License-Identifier: MIT
// World's calls that read or set one body: nodes, render surface, impulses, forces, moments, pose.
// Skinning interpolates positions and turns normals by the cofactor of each tet's F.
#include "base/vector_math.h"
#include "elasticity/elements.h"
#include "elasticity/polar_decomposition.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

constexpr Status kWrongSize = {StatusCode::kInvalidArgument, "span", "wrong number of elements", 0};

void SkinPositions(const Body& body, std::span<Vec3> positions) {
  for (size_t v = 0; v < positions.size(); ++v) {
    const Tet& tet = body.simulation.tets[body.visual.tet_ids[v]];
    const Vec4& w = body.visual.weights[v];
    const Vec3 local =
        body.x[tet.a] * w.x + body.x[tet.b] * w.y + body.x[tet.c] * w.z + body.x[tet.d] * w.w;
    positions[v] = WorldPosition(body, local);
  }
}

void SkinNormals(const Body& body, std::span<Vec3> normals) {
  for (size_t v = 0; v < normals.size(); ++v) {
    const uint32_t t = body.visual.tet_ids[v];
    const Tet& tet = body.simulation.tets[t];
    const Mat3 F = DeformationGradient(body.x[tet.a], body.x[tet.b], body.x[tet.c], body.x[tet.d],
                                       body.simulation.DmInv(t));
    const Vec3 normal = Cofactor(F) * body.visual.normals[v];
    const float length = Length(normal);
    // A collapsed tet has no normal; use the rest normal, turned with the tet.
    normals[v] = length > 1.0e-20f
                     ? normal * (1.0f / length)
                     : RotationMatrix(body.Rotations().Get(body.simulation.tet_slots[t])) *
                           body.visual.normals[v];
  }
}

struct Centre {
  double mass = 0.0;
  double x[3] = {};  // mass-weighted mean of the positions, in the body's coordinates [m]
  double X[3] = {};  // the same of the rest positions [m]
};

Centre FindCentre(const Body& body) {
  Centre centre;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 &x = body.x[i], &X = body.simulation.nodes[i];
    centre.mass += m;
    centre.x[0] += m * x.x;
    centre.x[1] += m * x.y;
    centre.x[2] += m * x.z;
    centre.X[0] += m * X.x;
    centre.X[1] += m * X.y;
    centre.X[2] += m * X.z;
  }
  for (int k = 0; k < 3; ++k) {
    centre.x[k] /= centre.mass;
    centre.X[k] /= centre.mass;
  }
  return centre;
}

// The rotation R that maximises tr(R^T S). Newton's method can end half a turn away, so it starts
// from `near` and from the three half turns about it.
Quat BestRotation(const Mat3& S, const Quat& near) {
  constexpr int kIterations = 64;
  constexpr Quat kStarts[4] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  Quat best = near;
  float best_trace = -std::numeric_limits<float>::infinity();
  for (const Quat& start : kStarts) {
    const Quat q = AnalyticPolarDecomposition(S, near * start, kIterations);
    const Mat3 Y = TransposeTimes(RotationMatrix(q), S);
    const float trace = Y.c0.x + Y.c1.y + Y.c2.z;
    if (trace > best_trace) {
      best_trace = trace;
      best = q;
    }
  }
  return best;
}

BodyMoments MeasureMoments(const Body& body) {
  BodyMoments moments;
  const Centre centre = FindCentre(body);
  moments.mass = centre.mass;
  for (int k = 0; k < 3; ++k) moments.centre[k] = body.origin[k] + centre.x[k];
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const double r[3] = {body.x[i].x - centre.x[0], body.x[i].y - centre.x[1],
                         body.x[i].z - centre.x[2]};
    const double v[3] = {body.v[i].x, body.v[i].y, body.v[i].z};
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      moments.linear_momentum[k] += m * v[k];
      moments.angular_momentum[k] += m * (r[a] * v[b] - r[b] * v[a]);
    }
    moments.kinetic_j += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  const ElementSummary summary = SummariseElements(body.elements, body.x.span(), body.Rotations());
  moments.volume = summary.volume;
  moments.elastic_j = summary.elastic_j;
  return moments;
}

Pose FitPose(const Body& body) {
  const Centre centre = FindCentre(body);
  // S = sum m (x - xc) (X - Xc)^T. Its polar rotation minimises sum m |x - R X - t|^2.
  double S[3][3] = {};
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 &x = body.x[i], &X = body.simulation.nodes[i];
    const double r[3] = {x.x - centre.x[0], x.y - centre.x[1], x.z - centre.x[2]};
    const double R[3] = {X.x - centre.X[0], X.y - centre.X[1], X.z - centre.X[2]};
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) S[row][column] += m * r[row] * R[column];
    }
  }
  const auto column = [&S](int c) {
    return Vec3{static_cast<float>(S[0][c]), static_cast<float>(S[1][c]),
                static_cast<float>(S[2][c])};
  };
  Pose pose;
  pose.rotation = BestRotation({column(0), column(1), column(2)}, body.Rotations().Get(0));
  const Vec3 turned = RotationMatrix(pose.rotation) * Vec3{static_cast<float>(centre.X[0]),
                                                           static_cast<float>(centre.X[1]),
                                                           static_cast<float>(centre.X[2])};
  pose.position = {static_cast<float>(body.origin[0] + centre.x[0] - turned.x),
                   static_cast<float>(body.origin[1] + centre.x[1] - turned.y),
                   static_cast<float>(body.origin[2] + centre.x[2] - turned.z)};
  return pose;
}

// Lets a frozen body move again. Resets what may not be finite: its rotations, and the padding of
// the arrays that steps work in.
void Revive(Body* body) {
  body->frozen = false;
  for (NodeVec& y : body->y) y = NodeVec(Vec3{}, 0.0f);
  for (NodeVec& rhs : body->rhs) rhs = NodeVec(Vec3{}, 0.0f);
  for (float& value : body->workspace) value = 0.0f;
  const RotationView rotations = body->Rotations();
  rotations.Set(0, Quat{});
  const Quat turned = FitPose(*body).rotation;
  for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) rotations.Set(slot, turned);
}

}  // namespace

Status World::Skin(BodyId id, std::span<Vec3> positions, std::span<Vec3> normals) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  const size_t num_vertices = body->visual.positions.size();
  if (positions.size() != num_vertices || (!normals.empty() && normals.size() != num_vertices)) {
    return kWrongSize;
  }
  SkinPositions(*body, positions);
  SkinNormals(*body, normals);
  return {};
}

Status World::NodePositions(BodyId id, std::span<Vec3> positions) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (positions.size() != body->x.size()) return kWrongSize;
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = WorldPosition(*body, body->x[i]);
  return {};
}

Status World::NodeVelocities(BodyId id, std::span<Vec3> velocities) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (velocities.size() != body->v.size()) return kWrongSize;
  std::copy(body->v.begin(), body->v.end(), velocities.begin());
  return {};
}

Status World::SetNodeVelocities(BodyId id, std::span<const Vec3> velocities) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (velocities.size() != body->v.size()) return kWrongSize;
  for (size_t i = 0; i < velocities.size(); ++i) {
    if (!IsFinite(velocities[i])) {
      return {StatusCode::kInvalidArgument, "velocities", "must be finite", i};
    }
  }
  WakeUp(body);
  for (size_t i = 0; i < velocities.size(); ++i) {
    body->v[i] = body->IsPinned(i) ? Vec3{} : velocities[i];
  }
  return {};
}

Status World::AddImpulses(BodyId id, std::span<const Vec3> impulses) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (body->fixed) return kFixed;
  if (impulses.size() != body->v.size()) return kWrongSize;
  const auto pushed = [&](size_t i) { return Vec3(body->v[i]) + impulses[i] * body->x[i].w; };
  for (size_t i = 0; i < impulses.size(); ++i) {
    if (!IsFinite(impulses[i]) || !IsFinite(pushed(i))) {
      return {StatusCode::kInvalidArgument, "impulses", "must be finite and give finite velocities",
              i};
    }
  }
  WakeUp(body);
  for (size_t i = 0; i < impulses.size(); ++i) body->v[i] = pushed(i);
  return {};
}

Status World::SetNodePositions(BodyId id, std::span<const Vec3> positions) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (positions.size() != body->x.size()) return kWrongSize;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!IsPosition(positions[i])) {
      return {StatusCode::kInvalidArgument, "positions", "must lie within kMostCoordinate", i};
    }
  }
  // Move the origin first: relative to a far origin, positions would lose their last digits.
  body->origin[0] = positions[0].x;
  body->origin[1] = positions[0].y;
  body->origin[2] = positions[0].z;
  for (size_t i = 0; i < positions.size(); ++i) {
    body->x[i] = {static_cast<float>(positions[i].x - body->origin[0]),
                  static_cast<float>(positions[i].y - body->origin[1]),
                  static_cast<float>(positions[i].z - body->origin[2])};
  }
  body->moved = true;
  LeaveLane(body);
  WakeUp(body);
  if (body->frozen) Revive(body);
  // Reset what belongs to the old positions. Multipliers start from zero, not from
  // lambda V (det F - 1): the solve would apply that force explicitly and, far from equilibrium,
  // overshoot (45 times the energy at a Poisson's ratio of 0.49). The volume sweep does not.
  MatchRotations(body->elements, body->x.span(), body->Rotations());
  for (float& kappa : body->kappa) kappa = 0.0f;
  body->contacts.num_contacts = 0;
  return {};
}

Status World::ElasticForces(BodyId id, std::span<Vec3> forces) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (forces.size() != body->x.size()) return kWrongSize;
  plush::ElasticForces(body->elements, body->x.span(), body->Rotations(), forces);
  return {};
}

Status World::Moments(BodyId id, BodyMoments* out_moments) const {
  if (out_moments == nullptr) return kNoOutput;
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  *out_moments = MeasureMoments(*body);
  return {};
}

Status World::BestFitPose(BodyId id, Pose* out_pose) const {
  if (out_pose == nullptr) return kNoOutput;
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  *out_pose = FitPose(*body);
  return {};
}

}  // namespace plush
