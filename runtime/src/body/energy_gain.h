// SPDX-License-Identifier: MIT
// Whether a substep would end with more energy than the body had and others gave it. If so, it
// iterates on, and its end is bounded (energy_bound.h).
#pragma once

#include "body/body.h"

#include <optional>
#include <span>

namespace plush {

/// Shares of an energy: more than rounding adds, and more than an ordinary impact does.
constexpr double kTinyGain = 1.0e-5, kClearGain = 0.01;

// NodeSums over the nodes, of vectors d: ways [m] or velocities [m/s].
struct NodeSums {
  double mass = 0.0, first[3] = {}, second = 0.0;  // of m, m d and m d^2

  double Along(const Vec3& u) const {
    return double(u.x) * first[0] + double(u.y) * first[1] + double(u.z) * first[2];
  }
  Vec3 Times(double factor) const {
    return {static_cast<float>(first[0] * factor), static_cast<float>(first[1] * factor),
            static_cast<float>(first[2] * factor)};
  }
};

/// Of `to` - `from` - `carried`, or of `to` - `carried` if `from` is null (num_nodes x 1 each).
NodeSums SumUp(const Body& body, const NodeVec* to, const NodeVec* from, const Vec3& carried);

/// body->rhs := the nodes at the start of the substep, with the spare one that passes over tets
/// need (num_nodes + 1 x 1).
std::span<const NodeVec> CopyStart(Body* body);

/// Elastic energy [J] of a body whose nodes are at `at` (num_nodes + 1 x 1).
double EnergyAt(std::span<const NodeVec> at, const Body& body);
/// The same at the start of the substep. Uses body->rhs.
double EnergyAtStart(Body* body);

/// Whether the last solve of a body that is not soft still moved nodes, beside what they move
/// beside each other in a substep of `h` seconds.
bool IsUnsettled(float h, const Body& body);

/// Whether a body in the air would end a substep of `h` seconds with more energy than it had, at
/// body->y: it cannot follow its velocities. body->progress.longest must be known. Not if the
/// settings fix the number of iterations, nor of a soft body. Uses body->rhs.
bool IsJerked(const StepSettings& settings, float h, Body* body);
/// The part of IsJerked that does not need body->y.
bool MayBeJerked(const StepSettings& settings, float h, const Body& body);

/// Whether a body that touches others, or that springs hold, would gain over 1% of its energy in a
/// substep of `h` seconds that ended at body->y. Not if the settings fix the number of iterations.
/// Uses body->rhs.
bool GainsFromOthers(const StepSettings& settings, float h, Body* body);
/// The part of GainsFromOthers that does not need body->y. `is_rough`: tets may have been
/// flat, or nodes move far.
bool MayGainFromOthers(const StepSettings& settings, float h, bool is_rough, const Body& body);

/// Whether a body may gain energy in flight: it is nearly incompressible, and nodes move beside
/// each other.
bool MayGainInFlight(const StepSettings& settings, const Body& body);

/// Of a substep of a body that others act on, without what its centre of mass does if it is free
/// [J].
struct EnergiesAmongOthers {
  double before = 0.0;                  ///< all, and the work of others
  double elastic = 0.0, kinetic = 0.0;  ///< at body->y
};

/// Those of a substep of `h` seconds that ended at body->y; nothing if the body gains no energy.
/// Uses body->rhs.
std::optional<EnergiesAmongOthers> MeasureAmongOthers(const StepSettings& settings, float h,
                                                      Body* body);

}  // namespace plush
