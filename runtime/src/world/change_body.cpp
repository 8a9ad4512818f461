// SPDX-License-Identifier: MIT
// SetPinnedNodes, SetMaterial and a solver's drag: give a body another matrix. Reading pins and
// material back. Not on the step path.
#include "body/make_body.h"
#include "body/solver_method.h"
#include "world/world_impl.h"

#include <cmath>
#include <limits>
#include <utility>

namespace plush {
namespace {

constexpr Status kNoBodyMemory = {StatusCode::kOutOfMemory, "body", "", 0};

// Opens the body's asset again, because the body keeps none. Fails for bodies that cannot change.
Status OpenAgain(const Body& body, Asset* out_asset) {
  if (body.fixed) return kFixed;
  return out_asset->Open(body.system->key.asset_bytes, Trust::kValidated);
}

// Scales each tet's multiplier with its lambda V, as its pressure scales. Lambda counts as at most
// `most` mu. Clears the multiplier if the tet had no bulk stiffness.
void ScaleByBulk(const ElementView& before, const ElementView& after, const VolumeLaw& law,
                 Body* body) {
  for (size_t t = 0; t < before.tets.size(); ++t) {
    const float from = LimitedBulk(law, before.Stiffness(t), before.Bulk(t));
    const float to = LimitedBulk(law, after.Stiffness(t), after.Bulk(t));
    float& kappa = body->kappa[before.slots[t]];
    kappa = from > 0.0f ? kappa * (to / from) : 0.0f;
  }
}

// The density that ResolveMaterial divides by the baked one to get `mass_scale`. The product is at
// most one float off.
float DensityOf(float mass_scale, float baked) {
  const float density = mass_scale * baked;
  for (const float end : {0.0f, std::numeric_limits<float>::max()}) {
    const float next = std::nextafter(density, end);
    if (density / baked != mass_scale && next / baked == mass_scale) return next;
  }
  return density;
}

}  // namespace

Status World::Impl::ChangeSystem(const Asset& asset, const BodyMaterial& material,
                                 std::span<const uint8_t> pinned, Body* body) {
  Array<float> stretches;
  const size_t places = kBlockTets * body->elements.blocks.size();
  if (material.damping > 0.0f && !stretches.Allocate(allocator, 9 * places)) return kNoBodyMemory;
  System* system = cache.Acquire(asset, material, pinned);
  if (system == nullptr) return kNoBodyMemory;
  CoarseMatrix coarse;
  CoarseResponses responses;
  const size_t num_clusters = system->coarse.num_clusters();
  const bool needs_responses = body->d.size() > 0 && body->responses.known.size() != num_clusters;
  const bool has_memory = coarse.Allocate(allocator, system->coarse.pattern) &&
                          (!needs_responses || responses.Allocate(allocator, num_clusters));
  const Status prepared = has_memory ? PrepareSystem(body->dt, system) : kNoBodyMemory;
  if (!prepared.ok()) {
    cache.Release(system);
    return prepared;
  }
  TakeFromCrowd(body);
  System* before = std::exchange(body->system, system);
  ScaleByBulk(body->elements, system->view.elements, LawOf(*body), body);
  body->elements = system->view.elements;
  body->mass_scale = material.mass_scale;
  body->stretches = std::move(stretches);
  body->coarse = std::move(coarse);
  if (needs_responses) body->responses = std::move(responses);
  body->contacts.Forget();
  body->contacts.couplings.Forget();  // they are those of the old matrix and pins
  body->contacts.sunk.ForgetLists();
  body->attached.factor_id = 0;
  body->attached.is_stale = true;
  for (size_t i = 0; i < body->x.size(); ++i) {
    const bool is_pinned = system->pinned[i] != 0;
    if (is_pinned && !body->IsPinned(i)) body->v[i] = NodeVec();  // moving pins keep theirs
    body->x[i].w = is_pinned ? 0.0f : 1.0f / body->Mass(i);
    if (!is_pinned && body->pins.moves) body->pins.regions[i] = PinMotion::kStays;
  }
  WakeUp(body);
  PlaceInCrowd(body);
  cache.Release(before);  // last: `material` and `pinned` may belong to it
  return {};
}

Status World::Impl::ChangeDrag(float drag, Body* body) {
  Asset asset;
  const Status opened = OpenAgain(*body, &asset);
  if (!opened.ok()) return opened;
  BodyMaterial material = body->system->key.material;
  material.drag = drag;
  return ChangeSystem(asset, material, body->system->pinned.span(), body);
}

Status World::SetPinnedNodes(BodyId id, std::span<const uint32_t> pinned_nodes) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  Asset asset;
  const Status opened = OpenAgain(*body, &asset);
  if (!opened.ok()) return opened;
  const Status checked = CheckPins(asset, pinned_nodes);
  if (!checked.ok()) return checked;
  Array<uint8_t> pinned;
  if (!pinned.Allocate(impl_->allocator, body->x.size(), uint8_t{0})) return kNoBodyMemory;
  for (const uint32_t node : pinned_nodes) pinned[node] = 1;
  const Status held = impl_->CheckHeld(body->solver, *body, pinned.span());
  if (!held.ok()) return held;
  return impl_->ChangeSystem(asset, body->system->key.material, pinned.span(), body);
}

Status World::SetMaterial(BodyId id, const MaterialOverride& material) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  Asset asset;
  const Status opened = OpenAgain(*body, &asset);
  if (!opened.ok()) return opened;
  BodyMaterial resolved;
  const float scale = body->system->key.material.scale;
  const Status checked = ResolveMaterial(asset, material, scale, &resolved);
  if (!checked.ok()) return checked;
  resolved.drag = body->system->key.material.drag;
  const Status changed = impl_->ChangeSystem(asset, resolved, body->system->pinned.span(), body);
  if (changed.ok()) body->coefficients = CoefficientsOf(material);
  return changed;
}

Status World::GetPinnedNodes(BodyId id, std::span<uint32_t> nodes, uint32_t* out_count) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_count, &body);
  if (!found.ok()) return found;
  for (uint32_t i = 0; i < body->x.size(); ++i) {
    if (!body->IsPinned(i)) continue;
    if (*out_count < nodes.size()) nodes[*out_count] = i;
    ++*out_count;
  }
  return {};
}

Status World::GetMaterial(BodyId id, MaterialOverride* out_material) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_material, &body);
  if (!found.ok()) return found;
  const BodyMaterial& own = body->system->key.material;
  out_material->young = own.young;
  out_material->poisson = own.poisson;
  out_material->density = DensityOf(own.mass_scale, body->simulation.density);
  out_material->damping = own.damping;
  out_material->friction = body->coefficients.friction;
  out_material->restitution = body->coefficients.restitution;
  return {};
}

}  // namespace plush
