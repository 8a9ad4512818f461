// SPDX-License-Identifier: MIT
// Keeps substeps from ending with more energy than there was.
//
// After its two or three iterations, impacts of nearly incompressible or stiff bodies, colliders
// that crush and lifts of flat tets can leave a body with more energy than it had and others gave
// it. Such a substep ends slower. If the elastic energy alone is too high, a body in flight or on
// pins starts the substep again, with the fine solve.
//
// What earlier substeps lost counts as credit, up to a share of the energy. Else a body that swings
// undamped would keep each loss of an iteration's error and no gain, and stop within seconds.
#pragma once

namespace plush {

struct Body;
struct StepSettings;
struct StepStats;
struct SubstepOf;

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

/// Whether the guard looks at a substep of `h` seconds: if the last solve moved a node by more than
/// a small share of what gravity does, if tets may have been flat (`is_rough`), or if the step is
/// implicit. Never while pins move, with a ContactMethod, volume sweeps, materials of papers or
/// quasistatic steps.
bool GuardLooks(const StepSettings& settings, float h, bool is_rough, const Body& body);

/// Measures a substep from body->x and body->v to body->y. Changes body->y and its multipliers, if
/// the elastic energy alone is too high. Uses body->rhs and body->d. Does not allocate.
GuardedSubstep BeginGuard(const SubstepOf& of, bool is_rough, Body* body, StepStats* stats);

/// Slows nodes of body->x down, if body->v has more kinetic energy than a substep of `h` seconds
/// leaves: first beside the rigid motions that pins leave, then beside a flight or what presses on
/// the body. Uses body->rhs. Does not allocate.
void EndGuard(const GuardedSubstep& substep, float h, Body* body);

}  // namespace plush
