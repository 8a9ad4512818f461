// SPDX-License-Identifier: MIT
// One body and the planes outside the solve: placement, distances, substeps, pushing and snapping.
// Penalty and snapping follow [Rio 8.1.1, 8.1.2].
#include "world/body_planes.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// An unused plane has no normal.
bool IsUsed(const LocalPlane& plane) { return Dot(plane.normal, plane.normal) != 0.0f; }

// Calls test(node, plane) for movable nodes and planes until it returns true; returns whether it
// did.
template <class Test>
bool AnyPair(const Body& body, const Test& test) {
  for (size_t i = 0; i < body.x.size() && body.planes.size() > 0; ++i) {
    if (body.IsPinned(i)) continue;
    for (const LocalPlane& plane : body.planes) {
      if (test(i, plane)) return true;
    }
  }
  return false;
}

// Depth of the deepest movable node below a plane, or 0 [m].
float DepthBelow(const LocalPlane& plane, const Body& body) {
  float deepest = 0.0f;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (body.IsPinned(i)) continue;
    deepest = std::fmax(deepest, plane.offset - Dot(plane.normal, body.x[i]));
  }
  return deepest;
}

}  // namespace

float ContactTolerance(const Body& body) {
  constexpr float kShareOfEdge = 1.0e-5f;
  return kShareOfEdge * body.simulation.median_edge;
}

void PlacePlanes(const StepSettings& settings, Body* body) {
  for (size_t p = 0; p < settings.planes.size(); ++p) {
    const PlaneDesc& plane = settings.planes[p];
    const double offset = double(plane.offset) - (double(plane.normal.x) * body->origin[0] +
                                                  double(plane.normal.y) * body->origin[1] +
                                                  double(plane.normal.z) * body->origin[2]);
    body->planes[p] = {plane.normal, static_cast<float>(offset), plane.friction};
  }
}

void LowerPlanes(float h, Body* body) {
  constexpr float kMostPush = 0.25f, kMostSpeed = 25.0f;  // [median edges], [median edges per s]
  const float most = std::fmin(kMostPush, kMostSpeed * h) * body->simulation.median_edge;
  for (LocalPlane& plane : body->planes.span()) {
    plane.offset -= std::fmax(DepthBelow(plane, *body) - most, 0.0f);
  }
}

float DeepestNode(const Body& body) {
  float deepest = 0.0f;
  for (const LocalPlane& plane : body.planes.span()) {
    deepest = std::fmax(deepest, DepthBelow(plane, body));
  }
  return deepest;
}

bool CanTouchPlanes(const StepSettings& settings, Body* body) {
  // Elasticity may carry a node this many times as far as its velocity does.
  constexpr float kMoreThanItsVelocity = 2.0f, kShareOfEdge = 0.1f;
  PlacePlanes(settings, body);
  const float margin = kShareOfEdge * body->simulation.median_edge;
  return AnyPair(*body, [&](size_t i, const LocalPlane& plane) {
    const Vec3 velocity = body->v[i] + settings.gravity * settings.dt;
    const float approach = std::fmax(-Dot(plane.normal, velocity), 0.0f);
    const float gap = Gap(plane, body->x[i]);
    return IsUsed(plane) && gap <= kMoreThanItsVelocity * approach * settings.dt + margin;
  });
}

int CountSubsteps(const StepSettings& settings, const Body& body) {
  const float dt = settings.dt;
  float fastest = 0.0f;
  AnyPair(body, [&](size_t i, const LocalPlane& plane) {
    const Vec3 velocity = body.v[i] + settings.gravity * dt;
    const float approach = -Dot(plane.normal, velocity);
    if (approach > fastest && Gap(plane, body.x[i]) <= approach * dt) fastest = approach;
    return false;
  });
  const float wanted = std::ceil(2.0f * fastest * dt / body.simulation.median_edge);
  const int most = std::min(settings.solver.max_substeps, body.Factors().num_fractions);
  if (!(wanted > 1.0f)) return 1;
  return wanted < static_cast<float>(most) ? static_cast<int>(wanted) : most;
}

void PushOutOfPlanes(const StepSettings& settings, float h, Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalPlane& plane : body->planes.span()) {
      const float depth = plane.offset - Dot(plane.normal, body->x[i]);
      if (depth <= 0.0f) continue;
      const float push = settings.solver.penalty_stiffness * depth * h / body->Mass(i);
      body->v[i] += plane.normal * push;
    }
  }
}

bool TouchesPlane(const Body& body) {
  const float tolerance = ContactTolerance(body);
  return AnyPair(body, [&](size_t i, const LocalPlane& plane) {
    return IsUsed(plane) && Gap(plane, body.x[i]) <= tolerance;
  });
}

bool IsBelowPlane(const Body& body) {
  const float tolerance = ContactTolerance(body);
  return AnyPair(
      body, [&](size_t i, const LocalPlane& plane) { return Gap(plane, body.y[i]) < -tolerance; });
}

void SnapToPlanes(Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalPlane& plane : body->planes) {
      const float gap = Gap(plane, body->y[i]);
      if (gap < 0.0f) body->y[i] -= plane.normal * gap;
    }
  }
}

void PlaceOnPlanes(Body* body) {
  const float tolerance = ContactTolerance(*body);
  std::fill(body->held_normals.begin(), body->held_normals.end(), NodeVec());
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    int touching = 0;
    for (const LocalPlane& plane : body->planes.span()) {
      const float gap = Gap(plane, body->y[i]);
      if (gap > tolerance || !IsUsed(plane)) continue;
      body->held_normals[i] = plane.normal;
      if (++touching > 1) body->y[i].w = 0.0f;
      if (gap < -tolerance) body->y[i] -= plane.normal * gap;
    }
  }
}

}  // namespace plush
