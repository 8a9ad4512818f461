// SPDX-License-Identifier: MIT
// Makes one copy of a lattice tet per piece of the solid and joins the copies the solid connects.
// Sources: [Civ, Sec. 5.3.1, step 3] and [Molino 2004] (title in split_cage.h).
#include "lattice/split_cage.h"

#include "lattice/copy_joining.h"
#include "lattice/id_map.h"
#include "mesh/disjoint_sets.h"
#include "solid/triangle_tet_overlap.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Most pinched places that are repaired by joining copies.
constexpr int kMostJoins = 100;

// 1 for each node of the tets in `contacts` that lies inside the solid, 0 for all other lattice
// nodes. Tests each node once.
IdMap<uint8_t> FindInsideNodes(const Lattice& lattice, const InsideTest& inside,
                               const LatticeContacts& contacts) {
  std::vector<uint32_t> nodes;
  IdMap<uint8_t> is_inside(0);
  for (const uint32_t tet : contacts.tets) {
    for (const uint32_t node : lattice.TetNodes(tet)) {
      if (!std::exchange(is_inside.At(node), 1)) nodes.push_back(node);
    }
  }
  std::vector<uint8_t> answers(nodes.size());
  tbb::parallel_for(size_t{0}, nodes.size(), [&](size_t i) {
    answers[i] = inside.IsInside(lattice.NodePosition(nodes[i])) ? 1 : 0;
  });
  for (size_t i = 0; i < nodes.size(); ++i) is_inside.At(nodes[i]) = answers[i];
  return is_inside;
}

// A lattice tet that the cage keeps, with its pieces.
struct KeptTet {
  uint32_t tet = 0;
  uint32_t contact = kNone;  // index in the contacts, or kNone for one without triangles
  uint32_t first_copy = 0;
  TetPieces pieces;
};

class Splitter {
 public:
  Splitter(const Lattice& lattice, const SolidSurface& surface, const InsideTest& inside,
           const LatticeContacts& contacts, double clearance)
      : lattice_(lattice),
        surface_(surface),
        inside_(inside),
        contacts_(contacts),
        clearance_(clearance),
        inside_nodes_(FindInsideNodes(lattice, inside, contacts)) {}

  void FindPieces(PieceFinder* finder) {
    for (uint32_t i = 0; i < contacts_.tets.size(); ++i) {
      const uint32_t tet = contacts_.tets[i];
      const auto nodes = lattice_.TetNodes(tet);
      std::array<bool, 4> corner_inside;
      for (size_t k = 0; k < 4; ++k) corner_inside[k] = inside_nodes_[nodes[k]] != 0;
      kept_of_tet_.At(tet) = static_cast<uint32_t>(kept_.size());
      kept_.push_back(
          {tet, i, 0,
           finder->Find(lattice_.TetCorners(tet), contacts_.TrianglesOf(i), corner_inside)});
    }
  }

  // Adds the tets inside that the surface does not touch, spreading across faces from those kept.
  // - Closed surface: such a tet lies inside if the three nodes of the face do, because no surface
  //   comes between.
  // - Open surface: its centre decides.
  // Returns whether all of them are kMostCageTets at most.
  bool AddInnerTets() {
    for (size_t next = 0; next < kept_.size(); ++next) {
      if (kept_.size() > kMostCageTets) return false;
      const uint32_t tet = kept_[next].tet;
      const auto nodes = lattice_.TetNodes(tet);
      for (uint32_t face = 0; face < 4; ++face) {
        const uint32_t other = lattice_.Neighbour(tet, face);
        if (other == kNoTet || kept_of_tet_[other] != kNone) continue;
        bool inner = true;
        for (uint32_t i = 0; i < 4; ++i) {
          inner = inner && (i == face || inside_nodes_[nodes[i]] != 0);
        }
        if (!surface_.closed) {
          const auto [a, b, c, d] = lattice_.TetCorners(other);
          inner = inside_.IsInside((a + b + c + d) * 0.25);
        }
        if (inner) AddInnerTet(other);
      }
    }
    return true;
  }

  // Numbers copies in ascending order of lattice tets, so that the order in which they were found
  // does not matter.
  void NumberCopies() {
    std::sort(kept_.begin(), kept_.end(),
              [](const KeptTet& a, const KeptTet& b) { return a.tet < b.tet; });
    for (uint32_t k = 0; k < kept_.size(); ++k) {
      kept_of_tet_.At(kept_[k].tet) = k;
      kept_[k].first_copy = num_copies_;
      num_copies_ += kept_[k].pieces.count;
    }
  }

  // Joins corners of neighbouring copies across every face that their piece touches.
  DisjointSets JoinCorners() {
    DisjointSets corners(4 * num_copies_);
    for (const KeptTet& kept : kept_) {
      for (uint32_t face = 0; face < 4; ++face) {
        const uint32_t other = lattice_.Neighbour(kept.tet, face);
        if (other == kNoTet || other < kept.tet || kept_of_tet_[other] == kNone) continue;
        JoinAcross(kept, kept_[kept_of_tet_[other]], face, &corners);
      }
    }
    MergeStubs(&corners);
    return corners;
  }

  SplitCage MakeCage(DisjointSets* corners) const {
    SplitCage cage;
    const std::vector<uint32_t> node_of_corner = MakeNodes(corners, &cage);
    for (const KeptTet& kept : kept_) {
      for (uint32_t piece = 0; piece < kept.pieces.count; ++piece) {
        AddCopy(kept, piece, node_of_corner, &cage);
      }
    }
    for (auto& triangles : cage.triangles) std::sort(triangles.begin(), triangles.end());
    return cage;
  }

 private:
  void AddInnerTet(uint32_t tet) {
    kept_of_tet_.At(tet) = static_cast<uint32_t>(kept_.size());
    KeptTet kept;
    kept.tet = tet;
    kept.pieces.count = 1;  // with all corners in piece 0
    for (const uint32_t node : lattice_.TetNodes(tet)) inside_nodes_.At(node) = 1;
    kept_.push_back(std::move(kept));
  }

  void JoinAcross(const KeptTet& kept, const KeptTet& other, uint32_t face, DisjointSets* corners) {
    const auto nodes = lattice_.TetNodes(kept.tet);
    const auto other_nodes = lattice_.TetNodes(other.tet);
    // The corners of both tets at each of the face's three nodes.
    std::array<std::array<uint32_t, 2>, 3> shared = {};
    size_t count = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      if (i == face) continue;
      const auto at = std::find(other_nodes.begin(), other_nodes.end(), nodes[i]);
      shared[count++] = {i, static_cast<uint32_t>(at - other_nodes.begin())};
    }
    const auto join = [&](uint32_t piece, uint32_t other_piece) {
      const uint32_t a = kept.first_copy + piece;
      const uint32_t b = other.first_copy + other_piece;
      joins_.push_back({a, b});
      joins_.push_back({b, a});
      for (const auto& [i, j] : shared) corners->Join(4 * a + i, 4 * b + j);
    };
    for (const auto& [i, j] : shared) {
      const uint8_t piece = kept.pieces.of_corner[i];
      const uint8_t other_piece = other.pieces.of_corner[j];
      if (piece != kNoPiece && other_piece != kNoPiece) join(piece, other_piece);
    }
    if (kept.contact == kNone || other.contact == kNone) return;
    JoinByTriangles(kept, other, face, join);
  }

  // A stub is a copy that is joined to only one other copy, its stem. Merges stubs of one lattice
  // tet that have the same stem: several bumps of a limb that reach into one tet need no separate
  // nodes.
  void MergeStubs(DisjointSets* corners) {
    std::sort(joins_.begin(), joins_.end());
    joins_.erase(std::unique(joins_.begin(), joins_.end()), joins_.end());
    std::vector<uint32_t> num_joins(num_copies_, 0);
    for (const auto& [copy, other] : joins_) ++num_joins[copy];
    std::vector<uint32_t> tet_of_copy(num_copies_);
    for (const KeptTet& kept : kept_) {
      for (uint32_t i = 0; i < kept.pieces.count; ++i) {
        tet_of_copy[kept.first_copy + i] = kept.tet;
      }
    }
    // The copies joined to one stem are consecutive, and among them those of one lattice tet.
    for (size_t i = 1; i < joins_.size(); ++i) {
      const auto& [stem, a] = joins_[i - 1];
      const auto& [same_stem, b] = joins_[i];
      if (stem != same_stem || tet_of_copy[a] != tet_of_copy[b]) continue;
      if (num_joins[a] > 1 || num_joins[b] > 1) continue;
      for (uint32_t corner = 0; corner < 4; ++corner) corners->Join(4 * a + corner, 4 * b + corner);
    }
  }

  // If a triangle comes near both tets and the face between them, joins the pieces that own it.
  template <class Join>
  void JoinByTriangles(const KeptTet& kept, const KeptTet& other, uint32_t face,
                       const Join& join) const {
    const auto corners = lattice_.TetCorners(kept.tet);
    const Vec3d& a = corners[(face + 1) % 4];
    const Vec3d& b = corners[(face + 2) % 4];
    const Vec3d& c = corners[(face + 3) % 4];
    const std::array<Vec3d, 4> flat = {a, b, c, c};
    std::vector<std::pair<uint8_t, uint8_t>> joined;
    const auto mine = contacts_.TrianglesOf(kept.contact);
    const auto theirs = contacts_.TrianglesOf(other.contact);
    for (size_t i = 0, j = 0; i < mine.size() && j < theirs.size();) {
      if (mine[i] != theirs[j]) {
        mine[i] < theirs[j] ? ++i : ++j;
        continue;
      }
      const std::pair pair = {kept.pieces.of_triangle[i], other.pieces.of_triangle[j]};
      const uint32_t triangle = mine[i];
      ++i;
      ++j;
      if (std::find(joined.begin(), joined.end(), pair) != joined.end()) continue;
      if (!TriangleMayTouchTet(surface_.CornersOf(triangle), flat, clearance_)) continue;
      joined.push_back(pair);
      join(pair.first, pair.second);
    }
  }

  // Makes one node for each set of joined corners, in order of the set's first corner.
  std::vector<uint32_t> MakeNodes(DisjointSets* corners, SplitCage* cage) const {
    std::vector<uint32_t> node_of_corner(4 * num_copies_, kNone);
    for (const KeptTet& kept : kept_) {
      const auto nodes = lattice_.TetNodes(kept.tet);
      for (uint32_t i = 0; i < 4 * kept.pieces.count; ++i) {
        const uint32_t corner = 4 * kept.first_copy + i;
        const uint32_t name = corners->Find(corner);
        if (name == corner) {
          node_of_corner[corner] = static_cast<uint32_t>(cage->mesh.nodes.size());
          cage->mesh.nodes.push_back(lattice_.NodePosition(nodes[i % 4]));
          cage->lattice_node.push_back(nodes[i % 4]);
        }
        node_of_corner[corner] = node_of_corner[name];
      }
    }
    return node_of_corner;
  }

  // Adds the copy for a piece. If an earlier copy has the same nodes, gives it the triangles
  // instead.
  void AddCopy(const KeptTet& kept, uint32_t piece, const std::vector<uint32_t>& node_of_corner,
               SplitCage* cage) const {
    const uint32_t corner = 4 * (kept.first_copy + piece);
    const std::array<uint32_t, 4> nodes = {node_of_corner[corner], node_of_corner[corner + 1],
                                           node_of_corner[corner + 2], node_of_corner[corner + 3]};
    size_t copy = cage->mesh.tets.size();
    while (copy > 0 && cage->lattice_tet[copy - 1] == kept.tet &&
           cage->mesh.tets[copy - 1] != nodes) {
      --copy;
    }
    const bool repeats = copy > 0 && cage->lattice_tet[copy - 1] == kept.tet;
    std::vector<uint32_t> triangles;
    if (kept.contact != kNone) {
      const auto all = contacts_.TrianglesOf(kept.contact);
      for (size_t i = 0; i < all.size(); ++i) {
        if (kept.pieces.of_triangle[i] == piece) triangles.push_back(all[i]);
      }
    }
    if (!repeats) {
      cage->mesh.tets.push_back(nodes);
      cage->lattice_tet.push_back(kept.tet);
      cage->triangles.push_back(std::move(triangles));
      return;
    }
    std::vector<uint32_t>& owned = cage->triangles[copy - 1];
    if (Enters(kept.tet, triangles) && Enters(kept.tet, owned)) ++cage->num_shared;
    owned.insert(owned.end(), triangles.begin(), triangles.end());
  }

  // Whether any of the triangles touches the tet, instead of only coming near it.
  bool Enters(uint32_t tet, const std::vector<uint32_t>& triangles) const {
    const auto corners = lattice_.TetCorners(tet);
    return std::any_of(triangles.begin(), triangles.end(), [&](uint32_t t) {
      return TriangleMayTouchTet(surface_.CornersOf(t), corners);
    });
  }

  const Lattice& lattice_;
  const SolidSurface& surface_;
  const InsideTest& inside_;
  const LatticeContacts& contacts_;
  const double clearance_;
  IdMap<uint8_t> inside_nodes_;  // by lattice node: 1 if it lies inside the solid
  IdMap<uint32_t> kept_of_tet_{kNone};
  std::vector<KeptTet> kept_;
  uint32_t num_copies_ = 0;
  std::vector<std::array<uint32_t, 2>> joins_;  // copies joined across a face, both ways
};

uint32_t Repeats(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const auto end = std::unique(numbers.begin(), numbers.end());
  return static_cast<uint32_t>(numbers.end() - end);
}

}  // namespace

std::map<uint32_t, std::vector<uint32_t>> SplitCage::CopiesByLatticeTet() const {
  std::map<uint32_t, std::vector<uint32_t>> copies;
  for (uint32_t t = 0; t < lattice_tet.size(); ++t) copies[lattice_tet[t]].push_back(t);
  return copies;
}

Result<SplitCage> SplitLattice(const Lattice& lattice, const SolidSurface& surface,
                               const SurfaceLinks& links, const InsideTest& inside,
                               const LatticeContacts& contacts, double clearance, bool join_parts) {
  Splitter splitter(lattice, surface, inside, contacts, clearance);
  PieceFinder finder(surface, links, inside, clearance, join_parts);
  splitter.FindPieces(&finder);
  if (!splitter.AddInnerTets()) return TooManyTets(lattice.cell());
  splitter.NumberCopies();
  DisjointSets corners = splitter.JoinCorners();
  SplitCage cage = splitter.MakeCage(&corners);
  cage.num_pinched = FillGaps(lattice, &cage);
  for (int i = 0; i < kMostJoins && cage.num_pinched > 0 && JoinCopiesAtPinch(&cage); ++i) {
    cage.num_pinched = FillGaps(lattice, &cage);
  }
  cage.rest_nodes = cage.mesh.nodes;
  cage.node_ids.resize(cage.mesh.nodes.size());
  std::iota(cage.node_ids.begin(), cage.node_ids.end(), 0u);
  cage.num_split_tets = Repeats(cage.lattice_tet);
  cage.num_split_nodes = Repeats(cage.lattice_node);
  return cage;
}

}  // namespace plush::tools
