// SPDX-License-Identifier: MIT
// Refit: moves a body's volumes and barycentric frames to its deformed shape.
// Volumes are bounded over tets [Civ 5.4.4]; frames carry the margins that cover all rounding.
#include "collision/collision_state.h"

#include "plush/format/cdg_records.h"

#include "base/vector_math.h"
#include "collision/bound_tet.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

void Unite(const Dop14& a, const Dop14& b, Dop14* both) {
  for (int half = 0; half < 8; half += 4) {
    Store4(Min(Load4(a.low + half), Load4(b.low + half)), both->low + half);
    Store4(Max(Load4(a.high + half), Load4(b.high + half)), both->high + half);
  }
}

// Projects the nodes. Returns the largest |x| + |y| + |z|.
float ProjectNodes(NodeVectors x, float* projections) {
  float reach = 0.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    DopLanes lanes = Project(x[i]);
    const float norm = SumNorm(x[i]);
    lanes.second[3] = norm;
    StoreLanes(lanes, projections + 8 * i);
    reach = std::max(reach, norm);
  }
  return reach;
}

// Places a sphere around the box of the whole surface, with room for rounding.
void PlaceSphere(CollisionState* state) {
  const Dop14& all = state->volumes[0];
  const Vec3 low = {all.low[0], all.low[1], all.low[2]};
  const Vec3 high = {all.high[0], all.high[1], all.high[2]};
  const DoubleVector diagonal = Difference(high, low);  // its square can exceed float's range
  constexpr double kRoom = 16.0 * std::numeric_limits<float>::epsilon();
  state->middle = low * 0.5f + high * 0.5f;
  state->radius = static_cast<float>(0.50001 * std::sqrt(Dot(diagonal, diagonal)) +
                                     kRoom * double(state->reach)) +
                  std::numeric_limits<float>::min();
}

double SumNorm(const DoubleVector& a) { return std::fabs(a.x) + std::fabs(a.y) + std::fabs(a.z); }

TetFrame NoFrame() {
  TetFrame frame = {};
  for (float& margin : frame.margin) margin = TetFrame::kNoFrame;
  return frame;
}

// Rounding in float of a query in a frame, in steps of epsilon |gradient| reach:
// - the coefficients (1), a ray's start within 3 reaches (7), its way across the body (4) and the
//   slabs (3);
// - the vertices' positions (2), their weights' sum (1) and the rounding of the exact test (4).
// Rounded up.
constexpr double kFrameRounding = 32.0 * std::numeric_limits<float>::epsilon();

// Rounding of the gradients themselves in double, per condition number of the tet.
constexpr double kGradientRounding = 16.0 * std::numeric_limits<double>::epsilon();

constexpr double kSteps = 256.0;

// The frame of a tet with these nodes [m] in a body with this reach [m], which is at most
// CollisionState::kMostReach. Inverted tets have frames too; for flat tets usable() is false.
TetFrame MakeTetFrame(const std::array<Vec3, 4>& nodes, float reach) {
  const DoubleVector b = Difference(nodes[1], nodes[0]);
  const DoubleVector c = Difference(nodes[2], nodes[0]);
  const DoubleVector d = Difference(nodes[3], nodes[0]);
  DoubleVector gradients[4] = {{}, Cross(c, d), Cross(d, b), Cross(b, c)};
  const double determinant = Dot(b, gradients[1]);
  const double edges = std::sqrt(Dot(b, b) + Dot(c, c) + Dot(d, d));
  const double condition = edges * edges * edges / std::fabs(determinant);
  const double rounding = kSteps * kGradientRounding * condition * (1.0 + condition);
  if (!(rounding <= double(TetFrame::kMostMargin))) return NoFrame();
  for (int i = 1; i < 4; ++i) gradients[i] = gradients[i] * (kSteps / determinant);
  gradients[0] = {-(gradients[1].x + gradients[2].x + gradients[3].x),
                  -(gradients[1].y + gradients[2].y + gradients[3].y),
                  -(gradients[1].z + gradients[2].z + gradients[3].z)};
  const DoubleVector base = {nodes[0].x, nodes[0].y, nodes[0].z};
  TetFrame frame;
  for (int i = 0; i < 4; ++i) {
    const double margin = kFrameRounding * SumNorm(gradients[i]) * double(reach) + rounding;
    const double length = std::sqrt(Dot(gradients[i], gradients[i]));
    // Steps shorter than 1e-18 m are beyond float's products.
    if (!(margin <= double(TetFrame::kMostMargin)) || !(length < 1.0e18)) return NoFrame();
    frame.x[i] = static_cast<float>(gradients[i].x);
    frame.y[i] = static_cast<float>(gradients[i].y);
    frame.z[i] = static_cast<float>(gradients[i].z);
    frame.offset[i] = static_cast<float>((i == 0 ? kSteps : 0.0) - Dot(gradients[i], base));
    frame.margin[i] = static_cast<float>(margin);
    frame.step[i] = static_cast<float>(0.999999 / length);
  }
  return frame;
}

// Lists the connected pieces. Returns false if the allocator fails.
bool FindPieces(const Allocator& allocator, const CollisionView& surface, CollisionState* state) {
  const std::span<const CdgPatch> patches = surface.patches;
  Array<uint32_t>& piece_of = state->piece_of;
  if (!piece_of.Allocate(allocator, patches.size())) return false;
  for (uint32_t i = 0; i < patches.size(); ++i) piece_of[i] = i;
  const auto root_of = [&](uint32_t i) {
    while (piece_of[i] != i) i = piece_of[i] = piece_of[piece_of[i]];
    return i;
  };
  uint32_t count = static_cast<uint32_t>(patches.size());
  for (uint32_t i = 0; i < patches.size(); ++i) {
    const size_t end = i + 1 < patches.size() ? patches[i + 1].first_link : surface.links.size();
    for (size_t k = patches[i].first_link; k < end; ++k) {
      const uint32_t a = root_of(i), b = root_of(surface.links[k] & ~kSeamLink);
      count -= a != b ? 1 : 0;
      piece_of[std::max(a, b)] = std::min(a, b);
    }
  }
  if (!state->pieces.Allocate(allocator, count)) return false;
  count = 0;
  for (uint32_t i = 0; i < patches.size(); ++i) {
    // Roots come first, and have their numbers when the others ask for them.
    const bool is_root = piece_of[i] == i;
    if (is_root) state->pieces[count].first_patch = i;
    piece_of[i] = is_root ? count++ : piece_of[piece_of[i]];
    state->pieces[piece_of[i]].area += patches[i].area;
  }
  return true;
}

}  // namespace

bool CollisionState::Reserve(const Allocator& allocator, const CollisionView& surface,
                             size_t num_nodes) {
  const size_t num_tets = surface.tets.size();
  if (num_tets == 0) return true;
  is_open = HasOpenBorder(surface, 0, surface.num_triangles());
  return volumes.Allocate(allocator, 2 * num_tets - 1) && frames.Allocate(allocator, num_tets) &&
         projections.Allocate(allocator, 8 * num_nodes) && FindPieces(allocator, surface, this);
}

void RefitVolumes(const CollisionView& surface, NodeVectors x, CollisionState* state) {
  state->has_frames = false;
  if (surface.tets.empty()) return;
  state->reach = ProjectNodes(x, state->projections.data());
  state->bounded = state->reach <= CollisionState::kMostReach;
  if (!state->bounded) return;
  // Parents precede their children in the tree; leaves are in the order of the tets.
  size_t tet = surface.tets.size();
  for (size_t node = surface.tree.size(); node-- > 0;) {
    const uint32_t left = surface.tree[node];
    if (left == 0) {
      BoundTet(surface.tets[--tet], state->projections.data(), &state->volumes[node]);
    } else {
      Unite(state->volumes[node + 1], state->volumes[node + size_t{2} * left],
            &state->volumes[node]);
    }
  }
  PlaceSphere(state);
}

void Refit(const CollisionView& surface, NodeVectors x, CollisionState* state) {
  RefitVolumes(surface, x, state);
  if (surface.tets.empty() || !state->bounded) return;
  state->has_frames = true;
  for (size_t t = 0; t < surface.tets.size(); ++t) {
    const uint32_t(&n)[4] = surface.tets[t].nodes;
    state->frames[t] = MakeTetFrame({x[n[0]], x[n[1]], x[n[2]], x[n[3]]}, state->reach);
  }
}

}  // namespace plush
