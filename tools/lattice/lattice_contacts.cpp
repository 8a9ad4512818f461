// SPDX-License-Identifier: MIT
// Finds the lattice tets near each triangle: starts at one of them and spreads across tet faces.
// Then sorts the pairs of tet and triangle by tet.
#include "lattice/lattice_contacts.h"

#include "solid/triangle_tet_overlap.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

struct Contact {
  uint32_t tet = 0;
  uint32_t triangle = 0;
};

// Finds the tets near each triangle, one triangle after the other.
class ContactFinder {
 public:
  ContactFinder(const Lattice& lattice, double clearance)
      : lattice_(lattice), clearance_(clearance), seen_for_(lattice.num_tets(), UINT32_MAX) {}

  // The tets that a convex set of positive thickness meets are connected across faces. So a search
  // from one of them finds all.
  void Add(uint32_t id, const std::array<Vec3d, 3>& triangle) {
    near_.assign(1, lattice_.TetAt(triangle[0]));
    seen_for_[near_[0]] = id;
    for (size_t next = 0; next < near_.size(); ++next) {
      const TetPlanes& planes = PlanesOf(near_[next]);
      for (uint32_t face = 0; face < 4; ++face) {
        if (StaysBehind(planes, face, triangle)) continue;
        const uint32_t tet = lattice_.Neighbour(near_[next], face);
        if (tet == kNoTet || std::exchange(seen_for_[tet], id) == id) continue;
        if (TriangleMayTouchTet(triangle, lattice_.TetCorners(tet), clearance_)) {
          near_.push_back(tet);
        }
      }
    }
    for (const uint32_t tet : near_) contacts_.push_back({tet, id});
  }

  const std::vector<Contact>& contacts() const { return contacts_; }

 private:
  // Keeps recent planes, because neighbouring triangles lie near the same tets.
  const TetPlanes& PlanesOf(uint32_t tet) {
    std::optional<KnownPlanes>& known = known_[tet % kKnown];
    if (!known || known->tet != tet) known = KnownPlanes{tet, TetPlanes(lattice_.TetCorners(tet))};
    return known->planes;
  }

  // Whether the triangle lies on the tet's side of a face and farther from it than the clearance.
  // The search then need not cross that face. The margin of 0.1% far exceeds rounding.
  bool StaysBehind(const TetPlanes& planes, uint32_t face,
                   const std::array<Vec3d, 3>& triangle) const {
    const double lowest =
        std::min({planes.Height(face, triangle[0]), planes.Height(face, triangle[1]),
                  planes.Height(face, triangle[2])});
    return lowest > 1.001 * clearance_;
  }

  struct KnownPlanes {
    uint32_t tet = 0;
    TetPlanes planes;
  };
  static constexpr uint32_t kKnown = 1009;

  const Lattice& lattice_;
  const double clearance_;
  std::vector<std::optional<KnownPlanes>> known_ =
      std::vector<std::optional<KnownPlanes>>(kKnown);  // by tet % kKnown
  std::vector<uint32_t> near_;
  std::vector<uint32_t> seen_for_;  // per lattice tet: the last triangle that it was tested for
  std::vector<Contact> contacts_;
};

// Sorts by tet. The triangles of a tet keep their order.
LatticeContacts SortByTet(const std::vector<Contact>& contacts, uint32_t num_tets) {
  std::vector<uint32_t> counts(num_tets, 0);
  for (const Contact& contact : contacts) ++counts[contact.tet];
  LatticeContacts out;
  uint32_t start = 0;
  for (uint32_t tet = 0; tet < num_tets; ++tet) {
    if (counts[tet] == 0) continue;
    out.tets.push_back(tet);
    out.starts.push_back(start);
    const uint32_t count = counts[tet];
    counts[tet] = start;
    start += count;
  }
  out.starts.push_back(start);
  out.triangles.resize(contacts.size());
  for (const Contact& contact : contacts) out.triangles[counts[contact.tet]++] = contact.triangle;
  return out;
}

}  // namespace

LatticeContacts FindContacts(const Lattice& lattice, const SolidSurface& surface,
                             double clearance) {
  ContactFinder finder(lattice, clearance);
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) finder.Add(t, surface.CornersOf(t));
  return SortByTet(finder.contacts(), lattice.num_tets());
}

}  // namespace plush::tools
