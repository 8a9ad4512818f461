// SPDX-License-Identifier: MIT
// The bytes of a saved world: records in the order of the file, and their checksum.
//
// Little-endian. Each section starts at a multiple of 64 bytes and ends in zeros. Its length
// follows from the counts before it:
//   StateHeader
//   StateWorld
//   StateAsset  (num_assets)          assets of the systems
//   StateSystem (num_systems)         matrices in use, in the order of their first use
//   pinned bytes, one section per system (num_nodes)
//   StateSet    (num_sets)            factors of the systems, in their order
//   StateSlot   (num_body_slots), then (num_collider_slots), then (num_attachment_slots)
//   StateCollider (num_colliders), Vec3 (num_hull_points) of hulls in their order
//   StateAttachment (num_attachments), StatePair (num_pairs), StateBodyContact (num_body_contacts),
//   StateForce (num_forces), StateEnd (num_ends), float (num_time_steps)
//   StateCrowd  (num_crowds)
//   StateBody   (num_bodies)          in the order of their slots
//   one section per body: nodes, rotations, multipliers, pins, contacts, touches,
//   tets of a model; see BodyLayout
//   one section per crowd whose lanes are in use: its rotations and multipliers, all lanes
#pragma once

#include "plush/format/tet_block.h"
#include "plush/types.h"

#include "base/node_vec.h"
#include "elasticity/element_pass.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace plush {

static_assert(std::endian::native == std::endian::little,
              "states are written as they lie in memory");

inline constexpr char kStateMagic[8] = {'P', 'L', 'U', 'S', 'H', 'S', 'T', '\n'};
inline constexpr uint32_t kStateVersion = 20;
inline constexpr uint32_t kStateByteOrder = 0x01020304;
#ifdef PLUSH_DETERMINISTIC
inline constexpr uint32_t kStateVariant = 1;
#else
inline constexpr uint32_t kStateVariant = 0;
#endif
inline constexpr size_t kStateAlignment = 64;
inline constexpr uint32_t kNoIndex = UINT32_MAX;

constexpr size_t PaddedSize(size_t bytes) {
  return (bytes + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
}

struct StateHeader {
  char magic[8];
  uint32_t version;
  uint32_t byte_order;
  uint32_t variant;  ///< builds that round differently
  uint32_t tag;      ///< WorldDesc::tag
  uint64_t total_bytes;
  uint64_t checksum;  ///< of all bytes after this header
  uint32_t keep_previous;
  uint32_t zeros[5];
};
static_assert(sizeof(StateHeader) == 64);

/// StepStats.
struct StateStats {
  uint32_t flags;
  float max_speed;
  uint32_t contacts, contact_sweeps, substeps, outer_iterations, asleep, overshoots,
      contacts_dropped, contacts_unsettled, body_pairs, pairs_searched, linear_iterations,
      newton_fallbacks, flat_tets;
  float phase_s[6];
};
static_assert(sizeof(StateStats) == 84);

struct StateWorld {
  float dt;
  float gravity[3];
  uint32_t num_body_slots, first_free_body, last_free_body, num_bodies;
  uint32_t num_collider_slots, first_free_collider, last_free_collider, num_colliders;
  uint32_t num_assets, num_systems, num_sets, num_crowds, num_forces, num_time_steps;
  int32_t contact_iterations, contact_sweeps, max_substeps;
  uint32_t contact_method;  ///< ContactMethod::number, or 0
  float push_out_time, penalty_stiffness, sleep_speed, sleep_time;
  StateStats stats;
  uint32_t num_hull_points;  ///< of all hulls
  uint32_t num_attachment_slots, first_free_attachment, last_free_attachment, num_attachments;
  uint32_t num_pairs, num_body_contacts;
  uint32_t num_ends;   ///< of contacts of removed bodies, for the next step
  uint32_t lost_ends;  ///< whether there were more: 0 or 1
};
static_assert(sizeof(StateWorld) == 224);

struct StateAsset {
  uint64_t content_hash, num_bytes;
};
static_assert(sizeof(StateAsset) == 16);

struct StateSystem {
  uint32_t asset;
  uint32_t base;  ///< index of an earlier system, or kNoIndex
  float young, poisson, damping, mass_scale, scale, drag;
  uint32_t num_nodes;
  uint32_t first_set, num_sets;
  uint32_t first_open;  ///< first of its crowds with a free lane, or kNoIndex
  uint32_t num_pinned;
  uint32_t zero;
  uint64_t pinned_at;  ///< of its section, in bytes from the first such section
};
static_assert(sizeof(StateSystem) == 64);

struct StateSet {
  float dt;
  uint32_t num_fractions, keep;
};
static_assert(sizeof(StateSet) == 12);

/// SlotList::SavedSlot.
struct StateSlot {
  uint32_t generation, link;
};
static_assert(sizeof(StateSlot) == 8);

struct StateFilter {
  uint32_t category, mask;
  int32_t group;
};

struct StatePose {
  float position[3], rotation[4];
};

struct StateCollider {
  uint64_t user_data;
  uint32_t slot, type;
  float shape[4];  ///< plane: normal and offset; sphere: radius; capsule: half height and radius;
                   ///< box: half extents; then zeros, all of them of other shapes
  StatePose pose;
  float velocity[3], angular_velocity[3], friction;
  StateFilter filter;
  uint32_t has_target;
  StatePose target;
  float restitution;
  float surface_velocity[3];
  uint32_t sensor;
  uint64_t mesh_hash;                ///< TriangleSource::hash, or 0
  uint32_t first_point, num_points;  ///< of a hull, else 0
};
static_assert(sizeof(StateCollider) == 168);

/// AttachmentDesc or ConstraintDesc, and what steps keep of either.
struct StateAttachment {
  uint64_t other_collider;          ///< or 0
  uint32_t slot, body, other_body;  ///< slots; the last one or kNoIndex
  uint32_t nodes[4], other_nodes[4];
  float weights[4], other_weights[4];
  float target[3], next[3];
  float rest_length, stiffness, damping, max_force, break_force;
  float force[3], mean_force[3];
  uint32_t has_next;
  uint32_t constraint;  ///< 0: a spring; else 1 + ConstraintKind
  float direction[3], correction;
};
static_assert(sizeof(StateAttachment) == 176);

struct StateForce {
  uint64_t body;
  uint32_t type;
  float vector[3], centre[3];
  float radius, strength, air_density, drag;
  uint32_t mask, wake, zero;
};
static_assert(sizeof(StateForce) == 64);

/// A ContactEvent of type kEnded: ids.
struct StateEnd {
  uint64_t body;
  uint64_t other_body, collider;  ///< one of them is 0
};
static_assert(sizeof(StateEnd) == 24);

struct StateCrowd {
  uint32_t system;
  uint32_t next_open;  ///< next crowd of the system with a free lane, or kNoIndex
  float kappa_dt;
  uint32_t has_lanes;           ///< whether it has a section
  uint64_t bulk_at;             ///< of its section, in bytes from the first one of a crowd
  uint32_t slots[kCrowdLanes];  ///< of the bodies by lane, or kNoIndex
};
static_assert(sizeof(StateCrowd) == 88);

/// TouchingPair.
struct StatePair {
  double travel[3], holds_until;
  uint32_t bodies[2];  ///< slots, ascending
  uint32_t end;        ///< of its contacts, which follow those of the pair before
  uint32_t is_reported;
  float rebound_speed, rebound_time, rebound_energy;  ///< Rebound
  uint32_t was_searched;
  uint32_t is_open, is_incomplete;
};
static_assert(sizeof(StatePair) == 72);

/// PastContact.
struct StateBodyContact {
  uint32_t triangles[2];
  float u[2], v[2], normal[3], force[3];
};
static_assert(sizeof(StateBodyContact) == 48);

/// StateBody::flags.
enum StateBodyFlags : uint32_t {
  kStateFixed = 1u << 0,
  kStateFrozen = 1u << 1,
  kStateAsleep = 1u << 2,
  kStateEnabled = 1u << 3,
  kStateWasAsleep = 1u << 4,
  kStateInLane = 1u << 5,
  kStateInCrowdStep = 1u << 6,
  kStateHasPrevious = 1u << 7,
  kStateReports = 1u << 8,     ///< has reactions
  kStateHasTargets = 1u << 9,  ///< has memory for targets of pins
  kStatePinsRest = 1u << 10,
  kStatePinsMove = 1u << 11,
  kStateReportsContacts = 1u << 12,
  kStateHasSearched = 1u << 13,
  kStateHasResting = 1u << 14,
  kStateKnowsElastic = 1u << 15,  ///< EnergyGuard::is_known
  kStateTriesRest = 1u << 16,     ///< RestingPlace::is_tried
  kStateAllFlags = (1u << 17) - 1,
};

struct StateBody {
  uint64_t user_data;
  double origin[3], previous_origin[3];
  double searched_origin[3], searched_travel[3], searched_way;  ///< SearchedShape
  double guard_credit, guard_elastic;                           ///< EnergyGuard
  uint64_t bulk_at;    ///< of its section, in bytes from the first one of a body
  uint64_t factor_id;  ///< PointCouplings::factor_id, or 0: no couplings
  uint32_t slot, system;
  float dt, kappa_dt, resting_time, gravity_factor, max_speed;
  StateFilter filter;
  uint32_t flags;
  uint32_t crowd, lane;  ///< or kNoIndex
  uint32_t num_contacts;
  uint32_t num_coupled;  ///< points with couplings, see PointCouplings
  StateStats stats;
  float friction, restitution;
  float rebound_speed, rebound_time, rebound_energy;
  uint32_t rebound_collider;
  int32_t outer_iterations, volume_sweeps, polar_iterations;
  uint32_t num_touches;
  uint32_t solver;  ///< SolverMethod::number, or 0: splitting
  // ImplicitSettings.
  int32_t newton_iterations, linear_iterations;
  float newton_tolerance, linear_tolerance, mass_damping;
  uint32_t differential, preconditioner, line_search;
  uint32_t linear_method, quasistatic, model, rotation;
  float alpha, beta;
  uint32_t exact_degenerate_stress;
  uint32_t assembled;
  uint32_t num_models;  ///< tets with a ModelTet: all or none
};
static_assert(sizeof(StateBody) == 400);

inline bool Has(const StateBody& body, StateBodyFlags flag) { return (body.flags & flag) != 0; }

/// ModelTet::state.
struct StateModelTet {
  float rotation[9], reflected[3];
  uint32_t witness;
};
static_assert(sizeof(StateModelTet) == 52);

/// RegionMotion.
struct StateMotion {
  StatePose from, to;
  uint32_t known, moves;
};
static_assert(sizeof(StateMotion) == 64);

/// PlaneContact.
struct StateContact {
  uint32_t slot, collider, face;
  float impulse[3], normal[3];
};
static_assert(sizeof(StateContact) == 36);

/// Touch.
struct StateTouch {
  uint64_t collider;
  float force[3], torque[3], point[3], normal[3];
  float impulse, approach_speed;
  uint32_t triangle, other_triangle;
  uint32_t is_sensor, is_reported;
};
static_assert(sizeof(StateTouch) == 80);

/// An EmbeddedPoint with couplings.
struct StatePoint {
  uint32_t id;
  float u, v;
};
static_assert(sizeof(StatePoint) == 12);

/// Sizes of what a body's section holds, in order [bytes]. Multiples of 4.
struct BodyLayout {
  uint64_t x = 0, v = 0;              ///< NodeVec (num_nodes)
  uint64_t rotations = 0, kappa = 0;  ///< by block; of a body that is not in a lane
  uint64_t previous = 0;              ///< NodeVec (num_nodes)
  uint64_t searched = 0;              ///< NodeVec (num_nodes)
  uint64_t resting = 0;               ///< Vec3 (num_nodes), of RestingPlace
  uint64_t targets = 0, regions = 0;  ///< NodeVec, int32_t (num_nodes)
  uint64_t motions = 0;               ///< StateMotion (num_regions)
  uint64_t reactions = 0;             ///< Vec3 (num_nodes)
  uint64_t contacts = 0;              ///< StateContact (num_contacts)
  uint64_t touches = 0;               ///< StateTouch (num_touches)
  uint64_t coupled = 0;               ///< StatePoint (num_coupled)
  uint64_t couplings = 0;  ///< lower triangle by rows (num_coupled (num_coupled + 1) / 2)
  uint64_t models = 0;     ///< StateModelTet (num_models)

  BodyLayout(const StateBody& body, uint64_t num_nodes, uint64_t num_blocks, uint64_t num_regions) {
    x = v = sizeof(NodeVec) * num_nodes;
    if ((body.flags & kStateInLane) == 0) {
      kappa = sizeof(float) * kBlockTets * num_blocks;
      rotations = 4 * kappa;
    }
    if ((body.flags & kStateHasPrevious) != 0) previous = x;
    if ((body.flags & kStateHasSearched) != 0) searched = x;
    if ((body.flags & kStateHasResting) != 0) resting = sizeof(Vec3) * num_nodes;
    if ((body.flags & kStateHasTargets) != 0) {
      targets = x;
      regions = sizeof(int32_t) * num_nodes;
      motions = sizeof(StateMotion) * num_regions;
    }
    if ((body.flags & kStateReports) != 0) reactions = sizeof(Vec3) * num_nodes;
    contacts = sizeof(StateContact) * uint64_t{body.num_contacts};
    touches = sizeof(StateTouch) * uint64_t{body.num_touches};
    coupled = sizeof(StatePoint) * uint64_t{body.num_coupled};
    couplings = sizeof(float) * (uint64_t{body.num_coupled} * (uint64_t{body.num_coupled} + 1) / 2);
    models = sizeof(StateModelTet) * uint64_t{body.num_models};
  }
  uint64_t Sum() const {
    return x + v + rotations + kappa + previous + searched + resting + targets + regions + motions +
           reactions + contacts + touches + coupled + couplings + models;
  }
};

/// Size of a crowd's section [bytes].
constexpr uint64_t CrowdBytes(uint64_t num_blocks) {
  return sizeof(float) * (kCrowdRotation + kCrowdLanes) * kBlockTets * num_blocks;
}

/// Mixes words of 8 bytes in eight lanes. It finds accidents, not forgeries.
class StateChecksum {
 public:
  /// `bytes` must be a multiple of kStateAlignment.
  void Add(std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += kStateAlignment) {
      for (size_t k = 0; k < 8; ++k) {
        uint64_t word;
        std::memcpy(&word, &bytes[at + 8 * k], 8);
        lanes_[k] = (lanes_[k] ^ word) * 0x9e3779b97f4a7c15ull;
        lanes_[k] ^= lanes_[k] >> 29;
      }
    }
  }
  uint64_t value() const {
    uint64_t sum = 0;
    for (const uint64_t lane : lanes_) sum = (sum ^ lane ^ lane >> 32) * 0xd6e8feb86659fd93ull;
    return sum;
  }

 private:
  uint64_t lanes_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace plush
