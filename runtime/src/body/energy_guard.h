// SPDX-License-Identifier: MIT
// Keeps substeps from ending with more energy than there was.
//
// A substep makes two or three iterations. Impacts of nearly incompressible bodies, blows that a
// stiff body cannot follow, colliders that crush a body and lifts of flat tets can leave it with
// more energy than it had and others gave it. Such a substep ends slower. If the elastic energy
// alone is too high, a body in flight or on pins goes a share of its way.
//
// What earlier substeps lost counts as credit, up to a share of the energy. Else a body that swings
// undamped would keep each loss of an iteration's error and no gain, and stop within seconds.
#pragma once

namespace plush {

struct Body;
struct StepSettings;

/// What a body remembers between substeps. Part of its state.
struct EnergyGuard {
  double credit = 0.0;    ///< what earlier substeps lost [J]
  double elastic = 0.0;   ///< elastic energy of the positions [J], if `is_known`
  bool is_known = false;  ///< the guard looked at the last substep, and positions are still its
};

/// A substep that the guard looks at.
struct GuardedSubstep {
  bool looks = false;
  bool is_shorter = false;  ///< its way
  double elastic = 0.0;     ///< at its end [J]
  double most = 0.0;        ///< energy at its start, with the work of others and the credit [J]
  double least = 0.0;       ///< smaller excesses may be rounding [J]
};

/// Whether the guard looks at a substep of `h` seconds: tets may have been flat (`is_rough`), or
/// the last solve still moved nodes by more than a small share of the way of nodes beside each
/// other, or the step is implicit. It does not while pins move, with a ContactMethod, volume
/// sweeps, materials of papers or quasistatic steps.
bool GuardLooks(const StepSettings& settings, float h, bool is_rough, const Body& body);

/// Measures a substep of `h` seconds from body->x and body->v to body->y, if the guard looks at it.
/// Uses body->rhs. Does not allocate.
GuardedSubstep BeginGuard(const StepSettings& settings, float h, bool is_rough, Body* body);

/// Slows nodes of body->x down, if body->v has more kinetic energy than a substep of `h` seconds
/// leaves: first beside the rigid motions that pins leave, then beside what presses on the body.
/// Uses body->rhs. Does not allocate.
void EndGuard(const GuardedSubstep& substep, float h, Body* body);

}  // namespace plush
