// SPDX-License-Identifier: MIT
// What only comparisons with papers use: other laws, differentials, preconditioners, contact
// methods, and the step of [Kug].
#include "golden/scene_parts.h"

namespace plush::golden {

namespace {

void DropThree(Stage* s, const BodySolver* solver) {
  s->Add(Floor());
  s->Add({.type = ShapeType::kSphere, .sphere = {0.3f}, .pose = {{1.2f, 0, 0}}});
  s->Add("bear", {.pose = {{0, 0.1f, 0}}, .solver = solver});
  s->Add("bear", {.pose = {{1.2f, 0.4f, 0}}, .solver = solver});
  s->Add("duck", {.pose = {{0, 0.9f, 0.05f}}, .solver = solver});
}

// One bear of each model, stress differential and linear method; all hang by their heads, upside
// down.
void HangModels(Stage* s) {
  const auto pins = s->Region("bear", "pin");
  const ImplicitSettings all[] = {
      {.model = MaterialModel::kLinear, .rotation = RotationMethod::kPolar},
      {.differential = StressDifferential::kExact,
       .linear_method = LinearMethod::kMinimumResiduals,
       .model = MaterialModel::kCorotated,
       .rotation = RotationMethod::kSvd},
      {.differential = StressDifferential::kHybrid,
       .assembled = true,
       .model = MaterialModel::kCorrectedCorotated,
       .rotation = RotationMethod::kDegenerationAware,
       .exact_degenerate_stress = true},
      {.preconditioner = Preconditioner::kJacobi, .model = MaterialModel::kStVenantKirchhoff},
      {.preconditioner = Preconditioner::kNone, .model = MaterialModel::kNeoHookean},
      {.differential = StressDifferential::kConstantRotation,
       .rotation = RotationMethod::kInvertibleSvd}};
  for (size_t i = 0; i < std::size(all); ++i) {
    const BodySolver solver = ImplicitSolver(all[i]);
    s->Add("bear", {.pose = {{2.0f * static_cast<float>(i), 0, 0}, {0, 0, 1, 0}},
                    .pinned_nodes = pins,
                    .solver = &solver});
  }
}

constexpr Scene kOfPapers[] = {
    {"paper_kug_step", 150,
     [](Stage& s) {
       static const BodySolver solver = SplittingSolver({1, 2});
       DropThree(&s, &solver);
       const auto pins = s.Region("bear", "pin");
       s.Add("bear", {.pose = {{4, 1, 0}, {0, 0, 1, 0}}, .pinned_nodes = pins, .solver = &solver});
     }},
    {"paper_snap",
     120,
     [](Stage& s) { DropThree(&s, nullptr); },
     nullptr,
     {.contact = {.method = &kSnapContact}, .max_pairs = 8}},
    {"paper_penalty",
     120,
     [](Stage& s) {  // of bars: explicit springs throw the light nodes of lattice cages
       s.Add(Floor());
       s.Add("bar", {.pose = {{0, 0.1f, 0}}});
       s.Add("bar", {.pose = {{0.1f, 0.5f, 0.05f}}});
       s.Add("bar", {.pose = {{0, 0.9f, 0.02f}}});
     },
     nullptr,
     {.contact = {.method = &kPenaltyContact}, .max_pairs = 8}},
    {"paper_pseudo_impulses",
     120,
     [](Stage& s) { DropThree(&s, nullptr); },
     nullptr,
     {.contact = {.method = &kPseudoImpulseContact}, .max_pairs = 8}},
    {"paper_implicit_models", 40, [](Stage& s) { HangModels(&s); }},
};

}  // namespace

std::span<const Scene> PaperScenes() { return kOfPapers; }

}  // namespace plush::golden
