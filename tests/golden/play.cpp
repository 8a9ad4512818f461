// SPDX-License-Identifier: MIT
#include "golden/play.h"

#include "runtime/world/waiting_threads.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

// Calls of operator new: what a step takes from the heap and not from its world's allocator.
std::atomic<uint64_t> news{0};

}  // namespace

void* operator new(size_t bytes) {
  ++news;
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace plush::golden {
namespace {

std::atomic<uint64_t> calls{0};  // of a world's allocator

Allocator CountingAllocator() {
  return {[](void*, size_t bytes, size_t alignment) {
            ++calls;
            return DefaultAllocator().allocate(nullptr, bytes, alignment);
          },
          [](void*, void* memory, size_t bytes, size_t alignment) {
            DefaultAllocator().release(nullptr, memory, bytes, alignment);
          },
          nullptr};
}

WorldDesc Description(const Scene& scene, const JobSystem& jobs) {
  WorldDesc desc = scene.desc;
  desc.jobs = jobs;
  desc.allocator = CountingAllocator();
  return desc;
}

struct Sum {
  double x = 0.0, y = 0.0, z = 0.0;

  Sum() = default;
  Sum(double a, double b, double c) : x(a), y(b), z(c) {}
  explicit Sum(const Vec3& v) : x(v.x), y(v.y), z(v.z) {}
  void Add(const Sum& v, double times) {
    x += times * v.x;
    y += times * v.y;
    z += times * v.z;
  }
  void Add(const Vec3& v, double times) { Add(Sum(v), times); }
  double Length() const { return std::sqrt(x * x + y * y + z * z); }
};

// Sums over the bodies that take part in steps.
struct Totals {
  Sum momentum;                                        // [kg m/s]
  double largest = 0.0;                                // momentum of a body [kg m/s]
  double mass = 0.0, weighed_mass = 0.0;               // times the gravity factor [kg]
  double kinetic = 0.0, elastic = 0.0, gravity = 0.0;  // [J]
  bool are_pins_known = true;                          // bodies with pins report their reactions
  Sum pins;                                            // forces on pins [N]

  double Energy() const { return kinetic + elastic + gravity; }
};

Totals TotalsOf(const Stage& stage) {
  const World& world = *stage.world;
  Totals sum;
  const Vec3 g = world.gravity();
  for (size_t b = 0; b < stage.bodies.size(); ++b) {
    const BodyId id = stage.bodies[b];
    BodyMoments moments;
    float factor = 1.0f;
    uint32_t pinned = 0;
    if (!world.IsEnabled(id) || !world.Moments(id, &moments).ok()) continue;
    stage.Do(world.GetGravityFactor(id, &factor));
    stage.Do(world.GetPinnedNodes(id, {}, &pinned));
    const double *p = moments.linear_momentum, *c = moments.centre;
    sum.momentum.Add(Sum{p[0], p[1], p[2]}, 1.0);
    sum.largest = std::max(sum.largest, Sum{p[0], p[1], p[2]}.Length());
    sum.mass += moments.mass;
    sum.weighed_mass += factor * moments.mass;
    sum.kinetic += moments.kinetic_j;
    sum.elastic += moments.elastic_j;
    sum.gravity -= factor * moments.mass * (g.x * c[0] + g.y * c[1] + g.z * c[2]);
    if (pinned == 0) continue;
    std::vector<Vec3> forces(stage.assets_of_bodies[b]->cage().nodes.size());
    sum.are_pins_known = sum.are_pins_known && world.NodeReactions(id, forces).ok();
    for (const Vec3& force : forces) sum.pins.Add(force, 1.0);
  }
  return sum;
}

// What impulses from outside leave unexplained of the change of all bodies' momentum.
class MomentumLaw {
 public:
  // A step from `before` to `after`. Steps in which a body sleeps, and worlds with pins or contact
  // methods that report nothing, say nothing.
  void Add(const Stage& stage, const Totals& before, const Totals& after) {
    const World& world = *stage.world;
    Sum sum = before.momentum;
    bool is_known =
        after.are_pins_known && world.stats().asleep == 0 && world.contact().method == nullptr;
    sum.Add(world.gravity(), before.weighed_mass * stage.dt);
    for (const ForceField& field : stage.fields) {
      is_known = is_known && field.type == FieldType::kUniform && field.mask == ~0u;
      sum.Add(field.vector, before.mass * stage.dt);
    }
    const auto add = [&](const Sum& force, double sign) {
      sum.Add(force, sign * stage.dt);
      largest_ = std::max(largest_, force.Length() * stage.dt);
    };
    add(after.pins, -1.0);
    for (const ColliderId id : stage.colliders) {
      Reaction reaction;
      if (world.ColliderReaction(id, &reaction).ok()) add(Sum(reaction.force), -1.0);
    }
    for (const AttachmentId id : stage.attachments) {
      Vec3 force;
      AttachmentDesc desc;
      if (!world.AttachmentForce(id, &force).ok()) continue;
      if (world.GetAttachment(id, &desc).ok() && !desc.other_body.valid()) add(Sum(force), 1.0);
    }
    for (const AttachmentEvent& event : world.attachment_events()) {
      if (!event.other_body.valid()) add(Sum(event.force), 1.0);
    }
    for (const ConstraintId id : stage.constraints) {
      Vec3 force;
      if (world.ConstraintForce(id, &force).ok()) add(Sum(force), 1.0);
    }
    largest_ = std::max(largest_, after.largest);
    sum.Add(after.momentum, -1.0);
    if (is_known) unexplained_ = std::max(unexplained_, sum.Length());
  }

  double Error() const { return largest_ > 0.0 ? unexplained_ / largest_ : 0.0; }

 private:
  double largest_ = 0.0, unexplained_ = 0.0;  // [kg m/s]
};

uint64_t Hash(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001b3u; }

uint64_t HashEvents(uint64_t hash, const Stage& stage) {
  const World& world = *stage.world;
  for (const BodyEvent& event : world.body_events()) {
    hash = Hash(Hash(hash, event.body.value), static_cast<uint64_t>(event.type));
  }
  for (const ContactEvent& event : world.contact_events()) {
    hash = Hash(Hash(hash, event.body.value), event.other_body.value);
    hash = Hash(Hash(hash, event.collider.value), static_cast<uint64_t>(event.type));
    for (const float x : {event.impulse, event.approach_speed, event.point.x, event.normal.y}) {
      hash = Hash(hash, std::bit_cast<uint32_t>(x));
    }
    hash = Hash(Hash(hash, event.triangle), event.other_triangle);
  }
  for (const AttachmentEvent& event : world.attachment_events()) {
    hash = Hash(Hash(hash, event.attachment.value), std::bit_cast<uint32_t>(event.force.y));
  }
  const StepStats& stats = world.stats();
  for (const uint32_t number :
       {stats.flags, stats.contacts, stats.body_pairs, stats.pairs_searched, stats.substeps,
        stats.outer_iterations, stats.asleep, stats.linear_iterations, stats.contacts_dropped}) {
    hash = Hash(hash, number);
  }
  const auto add = [&hash](const Vec3& v) {
    for (const float x : {v.x, v.y, v.z}) hash = Hash(hash, std::bit_cast<uint32_t>(x));
  };
  Reaction reaction;
  Vec3 force;
  for (const ColliderId id : stage.colliders) {
    if (world.ColliderReaction(id, &reaction).ok()) add(reaction.force), add(reaction.torque);
  }
  for (const AttachmentId id : stage.attachments) {
    if (world.AttachmentForce(id, &force).ok()) add(force);
  }
  for (const ConstraintId id : stage.constraints) {
    if (world.ConstraintForce(id, &force).ok()) add(force);
  }
  return hash;
}

std::vector<Vec3> KeptNodes(const Stage& stage) {
  std::vector<Vec3> all;
  for (size_t b = 0; b < stage.bodies.size(); ++b) {
    if (!stage.world->IsValid(stage.bodies[b])) continue;
    std::vector<Vec3> nodes(stage.assets_of_bodies[b]->cage().nodes.size());
    stage.Do(stage.world->NodePositions(stage.bodies[b], 1.0f, nodes));
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  std::vector<Vec3> kept;
  for (size_t i = 0; i < kKeptNodes; ++i) kept.push_back(all[i * all.size() / kKeptNodes]);
  return kept;
}

Moment MomentOf(const Stage& stage, int step, uint64_t events) {
  WorldMeasures measures;
  stage.Do(stage.world->Measure(&measures));
  const StepStats& stats = stage.world->stats();
  return {.step = step,
          .hash = stage.world->StateHash(),
          .events = events,
          .kinetic = measures.kinetic_j,
          .elastic = measures.elastic_j,
          .gravity = measures.gravity_j,
          .deepest = static_cast<double>(measures.max_penetration),
          .contacts = stats.contacts,
          .body_pairs = stats.body_pairs,
          .asleep = stats.asleep,
          .nodes = KeptNodes(stage)};
}

void Advance(Stage* stage, int step) {
  stage->fields.clear();
  if (stage->scene.before_step != nullptr) stage->scene.before_step(*stage, step);
}

void MakeStep(Stage* stage) {
  stage->Do(stage->world->Step(stage->dt));
  stage->is_new = false;
}

int SavedStep(const Scene& scene) { return scene.save > 0 ? scene.save : scene.steps / 2; }

// Makes the last steps, from `first` on, whose calls have been made if `has_called`. Says what
// differs from the end of `whole`, or that a step allocated; else nothing.
std::string Rest(const Record& whole, Stage* stage, int first, uint64_t events, bool has_called) {
  bool allocates = false;
  for (int step = first; step < stage->scene.steps; ++step) {
    if (step > first || !has_called) Advance(stage, step);
    const bool may_allocate = stage->is_new;
    const uint64_t before = calls + news;
    MakeStep(stage);
    allocates = allocates || (!may_allocate && calls + news != before);
    events = HashEvents(events, *stage);
  }
  const Moment& end = whole.moments.back();
  std::string faults;
  if (stage->world->StateHash() != end.hash) faults += ", it ends otherwise";
  if (events != end.events) faults += ", it has other events, counts or reactions";
  if (allocates) faults += ", a step allocates";
  return faults;
}

}  // namespace

Record Play(const Scene& scene, Assets* assets, std::string* faults) {
  Stage stage(scene, Description(scene, {}), assets);
  Record record;
  Limits& limits = record.limits;
  Peaks& peaks = record.peaks;
  MomentumLaw momentum;
  const Totals start = TotalsOf(stage);
  Totals now = start;
  double lowest = start.gravity, highest = start.gravity;
  uint64_t events = 0;
  int allocating_step = -1;
  bool is_finite = true;
  for (int step = 0; step < scene.steps; ++step) {
    const uint64_t before_calls = calls;
    Advance(&stage, step);
    if (step > 0) peaks.calls_that_allocate += calls - before_calls;
    const bool may_allocate = stage.is_new;
    const Totals before_step = scene.before_step == nullptr ? now : TotalsOf(stage);
    const uint64_t before = calls + news;
    MakeStep(&stage);
    const bool has_allocated = calls + news != before;
    if (has_allocated && !may_allocate && allocating_step < 0) allocating_step = step;
    const StepStats& stats = stage.world->stats();
    peaks = {std::max(peaks.contacts, stats.contacts),
             std::max(peaks.body_pairs, stats.body_pairs),
             std::max(peaks.substeps, stats.substeps),
             std::max(peaks.outer_iterations, stats.outer_iterations),
             std::max(peaks.linear_iterations, stats.linear_iterations),
             std::max(peaks.asleep, stats.asleep),
             peaks.flags | stats.flags,
             peaks.calls_that_allocate};
    events = HashEvents(events, stage);
    now = TotalsOf(stage);
    momentum.Add(stage, before_step, now);
    is_finite = is_finite && std::isfinite(now.Energy());
    lowest = std::min(lowest, now.gravity);
    highest = std::max(highest, now.gravity);
    limits.scale = std::max({limits.scale, now.kinetic, now.elastic});
    limits.most = std::max(limits.most, now.Energy() - start.Energy());
    if (step + 1 == std::max(scene.steps / 10, 1) || step + 1 == scene.steps / 2 ||
        step + 1 == scene.steps) {
      record.moments.push_back(MomentOf(stage, step + 1, events));
    }
  }
  limits.scale = std::max(limits.scale, highest - lowest);
  limits.momentum = momentum.Error();
  Vec3 low = stage.assets_of_bodies[0]->cage().nodes[0], high = low;
  for (const Vec3& x : stage.assets_of_bodies[0]->cage().nodes) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  Sum diagonal;
  diagonal.Add(high, 1.0);
  diagonal.Add(low, -1.0);
  limits.size = diagonal.Length();
  if (allocating_step >= 0) {
    *faults += "  step " + std::to_string(allocating_step) + " allocates memory\n";
  }
  if (!is_finite) *faults += "  an energy is not finite\n";
  return record;
}

void PlayFromState(const Scene& scene, Assets* assets, const Record& whole, std::string* faults) {
  const int save = SavedStep(scene);
  Stage stage(scene, Description(scene, {}), assets);
  uint64_t events = 0;
  for (int step = 0; step < save; ++step) {
    Advance(&stage, step);
    MakeStep(&stage);
    events = HashEvents(events, stage);
  }
  for (const bool has_called : {false, true}) {
    if (has_called) Advance(&stage, save);
    std::vector<std::byte> state(stage.world->StateBytes()), again(state.size());
    size_t bytes = 0;
    stage.Do(stage.world->SaveState(state, &bytes));
    const auto goes_on = [&](Stage* loaded, const char* where, bool keeps_bytes = true) {
      loaded->Load(stage, state);
      stage.Do(loaded->world->SaveState(again, &bytes));
      const std::string differs =
          (again == state || !keeps_bytes ? "" : ", it gives another state") +
          Rest(whole, loaded, save, events, has_called);
      if (differs.empty()) return;
      *faults += "  saved in step " + std::to_string(save) + (has_called ? ", after" : ", before") +
                 " its calls, and loaded " + where + differs + "\n";
    };
    if (!has_called && !stage.has_triangles) {
      Stage empty(Description(scene, {}), stage);
      goes_on(&empty, "into an empty world", false);  // which may have made fewer factors
    } else {
      Stage started(scene, Description(scene, {}), assets);
      goes_on(&started, "into the world before its first step");
      if (has_called) goes_on(&started, "into a world that has ended");
    }
  }
}

void PlayOnThreads(const Scene& scene, Assets* assets, const Record& whole, std::string* faults) {
  for (const uint32_t threads : {1u, 2u, 7u}) {
    test::WaitingThreads waiting(threads);
    const JobSystem jobs = threads == 1 ? test::BackwardJobs() : waiting.system();
    Stage stage(scene, Description(scene, jobs), assets);
    const std::string differs = Rest(whole, &stage, 0, 0, false);
    if (differs.empty()) continue;
    *faults += threads == 1 ? "  with jobs in reverse order"
                            : "  on " + std::to_string(threads) + " threads";
    *faults += differs + "\n";
  }
}

}  // namespace plush::golden
