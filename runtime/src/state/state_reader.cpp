// SPDX-License-Identifier: MIT
// StateReader: finds the sections of a state and checks its tables; state_body_checks.cpp checks
// bodies and crowds, state_scenery.cpp colliders, attachments and forces. Format: state_format.h.
#include "state/state_reader.h"

#include "plush/body.h"
#include "plush/collider.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "asset/regions.h"
#include "body/contact_method.h"
#include "state/state_checks.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

constexpr Status kShort = {StatusCode::kCorrupt, "state", "counts exceed its size", 0};

bool IsIn(int32_t value, int32_t least, int32_t most) { return value >= least && value <= most; }

bool IsAbove0(float value) { return value > 0.0f && std::isfinite(value); }

// Whether the world takes such settings as they are.
bool AreSettings(const StateWorld& w) {
  return IsIn(w.contact_iterations, 2, 64) && IsIn(w.contact_sweeps, 1, 256) &&
         IsIn(w.max_substeps, 1, kMaxSubsteps) && IsAbove0(w.push_out_time) &&
         IsAbove0(w.penalty_stiffness) && w.sleep_speed >= 0.0f && std::isfinite(w.sleep_speed) &&
         w.sleep_time > 0.0f;
}

// Whether a body of the asset can have the material.
bool IsMaterial(const Asset& asset, const BodyMaterial& m) {
  const bool young = m.young == -1.0f || (m.young > 0.0f && std::isfinite(m.young));
  const bool poisson = m.poisson == -1.0f || (m.poisson >= 0.0f && m.poisson < 0.5f);
  if (!young || !poisson || !(m.damping >= 0.0f && m.damping <= 10.0f) ||
      !std::isnormal(m.mass_scale) || m.mass_scale < 0.0f ||
      !(m.scale >= kLeastScale && m.scale <= kMostScale) ||
      !(m.drag >= 0.0f && m.drag <= 1000.0f)) {
    return false;
  }
  if (m.young < 0.0f && m.poisson < 0.0f && m.scale == 1.0f) return true;
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const LamePair lame = OverriddenLame(asset.material(i), m);
    if (!std::isfinite(lame.mu) || !std::isfinite(lame.lambda)) return false;
  }
  return true;
}

}  // namespace

ContactSettings StateReader::Contact() const {
  const StateWorld& w = world_;
  ContactSettings out;
  out.iterations = w.contact_iterations;
  out.sweeps = w.contact_sweeps;
  out.max_substeps = w.max_substeps;
  out.push_out_time = w.push_out_time;
  out.method = w.contact_method != 0 ? method_ : nullptr;
  out.penalty_stiffness = w.penalty_stiffness;
  return out;
}

BodyMaterial StateReader::MaterialOf(const StateSystem& system) const {
  BodyMaterial material;
  material.young = system.young;
  material.poisson = system.poisson;
  material.damping = system.damping;
  material.mass_scale = system.mass_scale;
  material.scale = system.scale;
  material.drag = system.drag;
  return material;
}

std::span<const uint8_t> StateReader::PinnedOf(const StateSystem& system) const {
  const std::byte* first = &bytes_[pinned_ + static_cast<size_t>(system.pinned_at)];
  return {reinterpret_cast<const uint8_t*>(first), system.num_nodes};
}

// The asset with the hash and size of the state's asset `index`. If the state has several like it,
// each gets another one.
const Asset* StateReader::FindAsset(uint32_t index) const {
  const StateAsset wanted = At<StateAsset>(asset_table_, index);
  uint32_t skip = 0;
  for (uint32_t i = 0; i < index; ++i) {
    const StateAsset other = At<StateAsset>(asset_table_, i);
    if (other.content_hash == wanted.content_hash && other.num_bytes == wanted.num_bytes) ++skip;
  }
  for (size_t i = 0; i < assets_.size(); ++i) {
    const Asset* asset = assets_[i];
    const auto fits = [&](const Asset* a) {
      return a != nullptr && a->is_open() && a->content_hash() == wanted.content_hash &&
             a->bytes().size() == wanted.num_bytes;
    };
    if (!fits(asset)) continue;
    const auto is_same = [&](const Asset* a) {
      return fits(a) && a->bytes().data() == asset->bytes().data();
    };
    if (std::any_of(assets_.begin(), assets_.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      continue;
    }
    if (skip == 0) return asset;
    --skip;
  }
  return nullptr;
}

// Moves behind the next section and adds it to the checksum. Returns false if it is not all there.
bool StateReader::TakeSection(uint64_t num_bytes, size_t* out_at) {
  const uint64_t left = bytes_.size() - at_;
  if (num_bytes > left || PaddedSize(static_cast<size_t>(num_bytes)) > left) return false;
  const size_t size = PaddedSize(static_cast<size_t>(num_bytes));
  checksum_.Add(bytes_.subspan(at_, size));
  *out_at = at_;
  at_ += size;
  return true;
}

Status StateReader::Check(uint16_t tag, bool keep_previous, const ContactMethod* method,
                          uint32_t max_contacts, const Collider* colliders, size_t num_colliders) {
  method_ = method;
  max_contacts_ = max_contacts;
  own_colliders_ = colliders;
  num_own_colliders_ = num_colliders;
  Status status = CheckHeader(tag, keep_previous);
  if (status.ok()) status = CheckWorld();
  if (status.ok()) status = CheckSystems();
  const StateWorld& w = world_;
  if (status.ok() &&
      (!TakeSection(sizeof(StateSlot) * uint64_t{w.num_body_slots}, &body_slots_) ||
       !TakeSection(sizeof(StateSlot) * uint64_t{w.num_collider_slots}, &collider_slots_) ||
       !TakeSection(sizeof(StateSlot) * uint64_t{w.num_attachment_slots}, &attachment_slots_) ||
       !TakeSection(sizeof(StateCollider) * uint64_t{w.num_colliders}, &colliders_) ||
       !TakeSection(sizeof(Vec3) * uint64_t{w.num_hull_points}, &hull_points_) ||
       !TakeSection(sizeof(StateAttachment) * uint64_t{w.num_attachments}, &attachments_) ||
       !TakeSection(sizeof(StatePair) * uint64_t{w.num_pairs}, &pairs_) ||
       !TakeSection(sizeof(StateBodyContact) * uint64_t{w.num_body_contacts}, &body_contacts_) ||
       !TakeSection(sizeof(StateForce) * uint64_t{w.num_forces}, &forces_) ||
       !TakeSection(sizeof(StateEnd) * uint64_t{w.num_ends}, &ends_) ||
       !TakeSection(sizeof(float) * uint64_t{w.num_time_steps}, &time_steps_) ||
       !TakeSection(sizeof(StateCrowd) * uint64_t{w.num_crowds}, &crowds_) ||
       !TakeSection(sizeof(StateBody) * uint64_t{w.num_bodies}, &bodies_))) {
    status = kShort;
  }
  if (status.ok()) status = CheckSlots();
  if (status.ok()) status = CheckColliders();
  if (status.ok()) status = CheckForces();
  if (status.ok()) status = CheckEnds();
  if (status.ok()) status = CheckCrowds();
  if (status.ok()) status = CheckBodies();
  if (status.ok()) status = CheckAttachments();
  if (status.ok()) status = CheckBodyContacts();
  if (status.ok()) status = CheckCrowdBulk();
  if (!status.ok()) return status;
  if (at_ != bytes_.size()) return Corrupt("state", "has bytes after its end");
  if (checksum_.value() != header_.checksum) return Corrupt("state", "does not have its checksum");
  return {};
}

Status StateReader::CheckHeader(uint16_t tag, bool keep_previous) {
  if (bytes_.size() < sizeof(StateHeader)) {
    return {StatusCode::kTruncated, "state", "has no header"};
  }
  std::memcpy(&header_, bytes_.data(), sizeof(StateHeader));
  if (!std::equal(std::begin(kStateMagic), std::end(kStateMagic), header_.magic)) {
    return {StatusCode::kBadMagic, "state", "is not a saved state"};
  }
  if (header_.version != kStateVersion || header_.byte_order != kStateByteOrder ||
      header_.variant != kStateVariant) {
    return {StatusCode::kForeignVersion, "state", "was saved by another version or build"};
  }
  if (bytes_.size() < header_.total_bytes) {
    return {StatusCode::kTruncated, "state", "is shorter than it says"};
  }
  if (bytes_.size() > header_.total_bytes) return Corrupt("state", "has bytes after its end");
  if (header_.tag != tag) {
    return {StatusCode::kMismatch, "state", "is of a world with another tag"};
  }
  if (header_.keep_previous != (keep_previous ? 1u : 0u)) {
    return {StatusCode::kMismatch, "state", "is of a world with another keep_previous"};
  }
  at_ = sizeof(StateHeader);
  size_t world = 0;
  if (!TakeSection(sizeof(StateWorld), &world)) return kShort;
  std::memcpy(&world_, &bytes_[world], sizeof(StateWorld));
  return {};
}

Status StateReader::CheckWorld() const {
  if (world_.dt != 0.0f && !IsTimeStep(world_.dt)) return Corrupt("state.dt", "is no time step");
  if (!AreFinite(world_.gravity)) return Corrupt("state.gravity", "is not finite");
  if (!AreSettings(world_)) return Corrupt("state.settings", "are out of range");
  if (world_.contact_method != 0 && world_.contact_method != NumberOf(method_)) {
    return {StatusCode::kMismatch, "state", "is of a world with another contact method"};
  }
  return {};
}

Status StateReader::CheckSystems() {
  if (!TakeSection(sizeof(StateAsset) * uint64_t{world_.num_assets}, &asset_table_) ||
      !TakeSection(sizeof(StateSystem) * uint64_t{world_.num_systems}, &systems_)) {
    return kShort;
  }
  for (uint32_t i = 0; i < world_.num_assets; ++i) {
    if (FindAsset(i) == nullptr) {
      return {StatusCode::kMismatch, "assets", "lack one of the state's", i};
    }
  }
  pinned_ = at_;
  uint32_t num_sets = 0;
  for (uint32_t i = 0; i < world_.num_systems; ++i) {
    const StateSystem s = system(i);
    size_t at = 0;
    if (s.pinned_at != at_ - pinned_ || s.first_set != num_sets ||
        s.num_sets > world_.num_sets - num_sets) {
      return Corrupt("state.systems", "are not consecutive", i);
    }
    if (!TakeSection(s.num_nodes, &at)) return kShort;
    num_sets += s.num_sets;
    const Status status = CheckSystem(i, s);
    if (!status.ok()) return status;
  }
  if (num_sets != world_.num_sets) return Corrupt("state.systems", "lack factors");
  if (!TakeSection(sizeof(StateSet) * uint64_t{num_sets}, &sets_)) return kShort;
  for (uint32_t i = 0; i < world_.num_systems; ++i) {
    const Status status = CheckSets(i, system(i));
    if (!status.ok()) return status;
  }
  return {};
}

Status StateReader::CheckSystem(uint32_t index, const StateSystem& s) const {
  const char* const section = "state.systems";
  if (s.asset >= world_.num_assets) return Corrupt(section, "no such asset", index);
  const Asset& asset = AssetOf(s);
  if (asset.is_static()) return Corrupt(section, "the asset is a static mesh", index);
  if (s.num_nodes != asset.simulation().nodes.size()) {
    return Corrupt(section, "do not have the asset's nodes", index);
  }
  if (!IsMaterial(asset, MaterialOf(s))) return Corrupt(section, "no such material", index);
  const std::span<const uint8_t> pinned = PinnedOf(s);
  uint32_t num_pinned = 0;
  for (const uint8_t p : pinned) {
    if (p > 1) return Corrupt(section, "a pin is neither 0 nor 1", index);
    num_pinned += p;
  }
  if (num_pinned != s.num_pinned) return Corrupt(section, "wrong number of pins", index);
  if (s.base == kNoIndex) return {};
  if (s.base >= index) return Corrupt(section, "no such base", index);
  const StateSystem base = system(s.base);
  const std::span<const uint8_t> base_pinned = PinnedOf(base);
  const bool fits = base.base == kNoIndex && base.asset == s.asset &&
                    MaterialOf(base) == MaterialOf(s) && s.damping == 0.0f && s.drag == 0.0f &&
                    base.num_pinned < num_pinned && num_pinned - base.num_pinned <= kMaxExtraPins &&
                    std::equal(base_pinned.begin(), base_pinned.end(), pinned.begin(),
                               [](uint8_t less, uint8_t more) { return less <= more; });
  return fits ? Status{} : Corrupt(section, "the base does not fit", index);
}

Status StateReader::CheckSets(uint32_t index, const StateSystem& s) const {
  const float baked_dt = AssetOf(s).factor().dt;
  int num_unprepared = 0;
  for (uint32_t i = s.first_set; i < s.first_set + s.num_sets; ++i) {
    const StateSet other = set(i);
    bool is_valid = (other.dt == baked_dt || IsTimeStep(other.dt)) && other.keep <= 1 &&
                    other.num_fractions >= 1 && other.num_fractions <= uint32_t{kMaxSubsteps};
    for (uint32_t k = s.first_set; k < i; ++k) is_valid = is_valid && set(k).dt != other.dt;
    num_unprepared += other.keep == 0 ? 1 : 0;
    if (!is_valid || num_unprepared > kMaxUnprepared) {
      return Corrupt("state.systems", "have impossible factors", index);
    }
  }
  return {};
}

Status StateReader::CheckSlots() const {
  const auto body = [this](uint32_t slot) { return body_slot(slot); };
  if (!SlotList<>::IsValid(body, world_.num_body_slots, world_.first_free_body,
                           world_.last_free_body, world_.num_bodies)) {
    return Corrupt("state.slots", "of bodies are no list of slots");
  }
  const auto collider = [this](uint32_t slot) { return collider_slot(slot); };
  if (!SlotList<>::IsValid(collider, world_.num_collider_slots, world_.first_free_collider,
                           world_.last_free_collider, world_.num_colliders)) {
    return Corrupt("state.slots", "of colliders are no list of slots");
  }
  const auto attachment = [this](uint32_t slot) { return attachment_slot(slot); };
  if (!SlotList<>::IsValid(attachment, world_.num_attachment_slots, world_.first_free_attachment,
                           world_.last_free_attachment, world_.num_attachments)) {
    return Corrupt("state.slots", "of attachments are no list of slots");
  }
  return {};
}

}  // namespace plush
