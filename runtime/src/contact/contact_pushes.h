// SPDX-License-Identifier: MIT
// Two solves beside SolveWithContacts, of the same operator A^-1: deep points come out by positions
// alone, and restitution changes velocities alone.
#pragma once

#include "contact/plane_contacts.h"

namespace plush {

/// Finds displacements `d` of bodies that take points deeper than problem.slop at problem.y out by
/// a `share` of their depth: A d = impulses along the contacts' normals, without friction. Add them
/// to positions only. Returns whether there are such points. Does not allocate. `jobs`: as of
/// SolveWithContacts.
bool FindPushOut(float share, ContactSolve* first, const JobSystem* jobs = nullptr);

/// What NoteRebounds found.
struct NotedRebounds {
  float speed = 0.0f;  ///< the largest at which a point shall leave its plane [m/s], 0: none shall
  uint32_t collider = 0;  ///< of that point
  Vec3 carried;           ///< the plane's velocity there [m/s]
  bool is_new = false;    ///< whether that point came in in this substep
};

/// Notes the speeds at which the contacts' points shall leave their planes: restitution times those
/// at which they came in at the start of the substep of `h` seconds, with velocities `v`
/// (num_nodes x 1), if these exceed `least` [m/s], and on the plane of state->rebound its speed at
/// least.
NotedRebounds NoteRebounds(const ContactProblem& problem, NodeVectors v, float h, float least,
                           ContactState* state);

/// Finds a change of->d (num_nodes + 1 x 1) of the velocities `v` after the substep that reaches
/// these speeds, and drives no other contact into its plane: A d = impulses along the normals,
/// without friction. A free body whose `turn` acts gets their moment. Does not allocate.
void FindRebound(NodeVectors v, ContactSolve* of);

/// The same for bodies that touch each other, with the velocities `v` of their states: reaches the
/// speeds `rebound` of contacts between bodies that press.
void FindJointRebound(ContactSolve* first);

}  // namespace plush
