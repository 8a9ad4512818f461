// SPDX-License-Identifier: MIT
// Finds the lattice tets near each triangle: starts at one of them and spreads across tet faces.
// Then sorts the pairs of tet and triangle by tet.
#include "lattice/lattice_contacts.h"

#include "lattice/id_map.h"
#include "solid/triangle_tet_overlap.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

struct Contact {
  uint32_t touched = 0;  // number of the tet, in the order in which they were found
  uint32_t triangle = 0;
};

// Finds the tets near each triangle, one triangle after the other.
class ContactFinder {
 public:
  ContactFinder(const Lattice& lattice, double clearance)
      : lattice_(lattice), clearance_(clearance) {}

  // The tets that a convex set of positive thickness meets are connected across faces. So a search
  // from one of them finds all.
  void Add(uint32_t id, const std::array<Vec3d, 3>& triangle) {
    near_.assign(1, lattice_.TetAt(triangle[0]));
    seen_for_.At(near_[0]) = id;
    for (size_t next = 0; next < near_.size(); ++next) {
      const TetPlanes& planes = PlanesOf(near_[next]);
      for (uint32_t face = 0; face < 4; ++face) {
        if (StaysBehind(planes, face, triangle)) continue;
        const uint32_t tet = lattice_.Neighbour(near_[next], face);
        if (tet == kNoTet || std::exchange(seen_for_.At(tet), id) == id) continue;
        if (TriangleMayTouchTet(triangle, lattice_.TetCorners(tet), clearance_)) {
          near_.push_back(tet);
        }
      }
    }
    for (const uint32_t tet : near_) {
      uint32_t& number = number_of_tet_.At(tet);
      if (number == UINT32_MAX) {
        number = static_cast<uint32_t>(touched_.size());
        touched_.push_back(tet);
      }
      contacts_.push_back({number, id});
    }
  }

  size_t num_touched() const { return touched_.size(); }

  // The contacts by tet. The triangles of a tet keep their order.
  LatticeContacts SortByTet() const {
    std::vector<uint32_t> order(touched_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return touched_[a] < touched_[b]; });
    std::vector<uint32_t> counts(touched_.size(), 0);
    for (const Contact& contact : contacts_) ++counts[contact.touched];
    LatticeContacts out;
    uint32_t start = 0;
    for (const uint32_t number : order) {
      out.tets.push_back(touched_[number]);
      out.starts.push_back(start);
      const uint32_t count = counts[number];
      counts[number] = start;
      start += count;
    }
    out.starts.push_back(start);
    out.triangles.resize(contacts_.size());
    for (const Contact& contact : contacts_) {
      out.triangles[counts[contact.touched]++] = contact.triangle;
    }
    return out;
  }

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
  IdMap<uint32_t> seen_for_{UINT32_MAX};  // by tet: the last triangle that it was tested for
  IdMap<uint32_t> number_of_tet_{UINT32_MAX};
  std::vector<uint32_t> touched_;
  std::vector<Contact> contacts_;
};

}  // namespace

Result<LatticeContacts> FindContacts(const Lattice& lattice, const SolidSurface& surface,
                                     double clearance) {
  ContactFinder finder(lattice, clearance);
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    finder.Add(t, surface.CornersOf(t));
    if (finder.num_touched() > kMostCageTets) return TooManyTets(lattice.cell());
  }
  return finder.SortByTet();
}

}  // namespace plush::tools
