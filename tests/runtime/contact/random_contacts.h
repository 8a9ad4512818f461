// SPDX-License-Identifier: MIT
// Random contact problems of small bodies, and their dense equations in double precision.
#pragma once

#include "contact/plane_contacts.h"
#include "reference/dense_algebra.h"
#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace plush::test {

inline constexpr float kProblemDt = 0.01f;
inline constexpr double kProblemSize = 0.4;  // of the bodies [m]
inline constexpr float kNoSlop = 1.0f;       // contacts correct all depths

// What of a body touches.
enum class Touching { kNodes, kVertices };

// What a body is of. `young` 0: something random.
struct Stuff {
  double young = 0.0;       // [Pa]
  double density = 1000.0;  // [kg/m^3]
};

// A body at y with a right-hand side that presses it onto random planes. A large one has more than
// 512 nodes, and no A.
struct RandomContacts {
  explicit RandomContacts(uint32_t seed, Touching kind = Touching::kNodes, bool is_large = false,
                          const Stuff& stuff = {})
      : touching(kind),
        random(seed),
        shape(is_large ? TetBox(18, 2, 8, 0.1, 0.09, seed % 50)
                       : TetBox(3, 2, 2, 0.1, 0.09, seed % 50),
              {stuff.young > 0.0 ? stuff.young
                                 : std::exp(random.Uniform(std::log(1.0e4), std::log(1.0e7))),
               0.4, stuff.density},
              double(kProblemDt)),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0),
        factor(shape) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), random.Uniform(0.0, 0.1))) {
      pinned[node] = 1;
      model.pinned[node] = true;
    }
    system.system = SystemOf(shape, kProblemDt);
    system.system.pinned = pinned;
    Refactor(1);
    const Points rest = ToEigen(shape.rest());
    const Eigen::Index n = rest.cols();
    const Points at = rest + random.Vectors(shape.num_nodes(), 0.004);
    y = ToNodeVecs(at);
    x = ToNodeVecs(at - random.Vectors(shape.num_nodes(), 0.004));
    // A fall, a turn and a shake; all in the range of what a step changes.
    const Eigen::Vector3d fall = random.Direction() * 3.0e-3, turn = random.Direction() * 0.02;
    Points b = random.Vectors(shape.num_nodes(), 1.0e-3);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Vector3d moved = fall + turn.cross(rest.col(i)) + b.col(i);
      b.col(i) = pinned[static_cast<size_t>(i)] != 0 ? Eigen::Vector3d::Zero().eval()
                                                     : (model.masses[i] * moved).eval();
    }
    rhs = ToNodeVecs(b);
    if (!is_large) A = DenseSystem(model, double(kProblemDt));
    if (touching == Touching::kVertices) AddVertices();
    for (uint32_t id = 0; id < surface().num_points(); ++id) {
      const EmbeddedPoint point = surface().Point(id);
      if (Movable(point) >= double(kLeastMovable)) points.push_back(point);
    }
  }

  // Gives half of all tets a patch of random vertices.
  void AddVertices() {
    for (uint32_t t = 0; t < shape.elements().tets.size(); t += 2) {
      const Tet& tet = shape.elements().tets[t];
      CdgTet record = {{tet.a, tet.b, tet.c, tet.d}, t, static_cast<uint32_t>(patches.size())};
      std::sort(std::begin(record.nodes), std::end(record.nodes));
      CdgPatch patch;
      patch.tet = static_cast<uint32_t>(tets.size());
      patch.first_vertex = static_cast<uint32_t>(vertices.size());
      patch.first_triangle = static_cast<uint32_t>(triangles.size());
      float low[4] = {1.0f, 1.0f, 1.0f, 1.0f}, high[4] = {};
      for (uint32_t k = 1 + random.Below(6); k > 0; --k) {
        double w[4], sum = 0.0;
        for (double& weight : w) sum += weight = random.Uniform(0.0, 1.0);
        // Some lie on a face.
        if (random.Below(3) == 0) sum -= std::exchange(w[random.Below(4)], 0.0);
        vertices.push_back(
            {float(w[0] / sum), float(w[1] / sum), float(w[2] / sum), float(w[3] / sum)});
        for (size_t i = 0; i < 4; ++i) {
          low[i] = std::min(low[i], float(w[i] / sum));
          high[i] = std::max(high[i], float(w[i] / sum));
        }
        const auto id = static_cast<uint32_t>(vertices.size()) - 1;
        const BarycentricBox all = {{}, {1.0f, 1.0f, 1.0f, 1.0f}};
        triangles.push_back(PackTriangle({{id, id, id}, {}, QuantiseBounds(all)}));
      }
      record.low = {low[0], low[1], low[2], low[3]};
      record.high = {high[0], high[1], high[2], high[3]};
      tets.push_back(record);
      patches.push_back(patch);
    }
    collision.tets = tets;
    collision.patches = patches;
    collision.vertices = vertices;
    collision.triangles = triangles;
  }

  TouchingSurface surface() const { return {&collision, pinned}; }
  static double Movable(const EmbeddedPoint& point) {
    return double(point.Free(0)) + double(point.Free(1)) + double(point.Free(2)) +
           double(point.Free(3));
  }

  void Refactor(uint64_t id) {
    factor.Factorise(system.system);
    system.factor = factor.panels();
    system.workspace = factor.workspace;
    system.id = id;
  }

  // A plane that some nodes of y lie below, and where its material moves.
  void AddPlane(float friction) {
    const Eigen::Vector3d normal = random.Direction();
    std::vector<double> heights;
    for (const EmbeddedPoint& point : points) heights.push_back(normal.dot(ToEigen(point.Of(y))));
    std::sort(heights.begin(), heights.end());
    LocalCollider plane;
    plane.normal = ToVec3(normal);
    plane.offset = static_cast<float>(heights[random.Below(touching == Touching::kNodes ? 6 : 12)] +
                                      random.Uniform(-1e-3, 1e-3));
    plane.coefficients.friction = friction;
    plane.shift = ToVec3(random.Vector(1.0e-3));
    const Vec3 turn = ToVec3(random.Vector(1.0e-3));
    plane.change = {{0.0f, turn.z, -turn.y}, {-turn.z, 0.0f, turn.x}, {turn.y, -turn.x, 0.0f}};
    plane.start_normal = plane.normal;
    plane.start_offset = plane.offset + static_cast<float>(random.Uniform(-1e-3, 1e-3));
    plane.slot = static_cast<uint32_t>(planes.size());
    planes.push_back(plane);
    REQUIRE(state.Reserve(DefaultAllocator(), tets.size(), static_cast<uint32_t>(shape.num_nodes()),
                          false, static_cast<uint32_t>(planes.size())));
  }

  ContactProblem Problem(int sweeps) const {
    const std::span<const NodeVec> start(x);
    return {.colliders = planes,
            .surface = surface(),
            .x = start.first(shape.num_nodes()),
            .y = y,
            .b = rhs,
            .tolerance = 1.0e-7f,
            .slop = slop,
            .rise = slop,
            .reach = 0.02f,
            .sweeps = sweeps};
  }
  ContactSolveStats Solve(int sweeps) {
    d.resize(shape.num_nodes() + 1);
    return SolveWithContacts(system, Problem(sweeps), &state, d);
  }

  // In as many solves as are needed to know all points that touch.
  ContactSolveStats SolveWell(int sweeps) {
    ContactSolveStats stats = Solve(sweeps);
    for (int k = 0; k < 20 && LowestGap() < -1e-6 * kProblemSize; ++k) stats = Solve(sweeps);
    return stats;
  }

  // What the contacts' nodes get beyond b, by the dense matrix.
  Points Impulses() const {
    const Points moved = ToEigen(d);
    return reference::Product(A, moved.reshaped()).reshaped(3, moved.cols()) - ToEigen(rhs);
  }

  // How far unit impulses move points, along any axis, by the dense matrix [1/kg].
  Eigen::MatrixXd CouplingsOf(const std::vector<EmbeddedPoint>& of) const {
    if (inverse_of_A.size() == 0) inverse_of_A = reference::InverseOf(A);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(of.size()), A.cols());
    for (Eigen::Index row = 0; row < J.rows(); ++row) {
      const EmbeddedPoint& point = of[static_cast<size_t>(row)];
      for (int k = 0; k < 4; ++k) {
        J(row, 3 * static_cast<Eigen::Index>(point.nodes[k])) += double(point.Free(k));
      }
    }
    return reference::Congruent(J, inverse_of_A);
  }
  double ResponseOf(const EmbeddedPoint& point) const { return CouplingsOf({point})(0, 0); }

  // From where the point may be.
  double GapOf(const LocalCollider& plane, const EmbeddedPoint& point) const {
    const double start =
        ToEigen(plane.start_normal).dot(ToEigen(point.Of(x))) - double(plane.start_offset);
    return ToEigen(plane.normal).dot(ToEigen(point.Of(y)) + ToEigen(point.Of(d))) -
           double(plane.offset) + std::max(-start - double(slop), 0.0);
  }
  double LowestGap() const {
    double lowest = 1.0;
    for (const LocalCollider& plane : planes) {
      for (const EmbeddedPoint& point : points) lowest = std::min(lowest, GapOf(plane, point));
    }
    return lowest;
  }
  // Displacement in the substep along the plane, relative to its material.
  Eigen::Vector3d SlipOf(const PlaneContact& contact) const {
    const LocalCollider& plane = planes[contact.collider];
    const EmbeddedPoint& point = state.PointOf(contact);
    const Eigen::Vector3d n = ToEigen(plane.normal), at = ToEigen(point.Of(x));
    const Eigen::Vector3d moved = ToEigen(point.Of(y)) + ToEigen(point.Of(d)) - at -
                                  ToEigen(plane.shift) - ToEigen(plane.change) * at;
    return moved - n * n.dot(moved);
  }

  Touching touching;
  float slop = kNoSlop;
  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  std::vector<NodeVec> x, y, rhs, d;
  // The surface, if any.
  std::vector<CdgTet> tets;
  std::vector<CdgPatch> patches;
  std::vector<CdgTriangle> triangles;
  std::vector<Vec4> vertices;
  CollisionView collision;
  std::vector<EmbeddedPoint> points;  // that contacts can move
  SystemFactor factor;
  FactoredSystem system;
  std::vector<LocalCollider> planes;
  ContactState state;
  Eigen::MatrixXd A;
  mutable Eigen::MatrixXd inverse_of_A;  // once it is asked for
};

}  // namespace plush::test
