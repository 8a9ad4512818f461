// SPDX-License-Identifier: MIT
// Makes random solids as zero surfaces of random fields, or as scattered simple shapes.
#include "tools/cage/random_solids.h"

#include "base/vec3.h"
#include "mesh/surface_mesh.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace plush::tests {
namespace {

using tools::SurfaceMesh;
using tools::Vec3d;

// A solid: the points at which a function is negative.
struct Field {
  std::function<double(const Vec3d&)> value;  // negative inside
  Vec3d low;                                  // box that encloses the inside
  Vec3d high;
  double finest = 1.0;  // largest cube that loses no parts
};

// Nodes of a grid of cubes and the field's values there.
class Grid {
 public:
  Grid(const Field& field, uint32_t cells) {
    const Vec3d size = field.high - field.low;
    edge_ = std::min(std::max({size.x, size.y, size.z}) / cells, field.finest);
    for (int axis = 0; axis < 3; ++axis) {
      counts_[static_cast<size_t>(axis)] = static_cast<uint32_t>(std::ceil(size[axis] / edge_)) + 3;
    }
    low_ = field.low - Vec3d{1, 1, 1} * edge_;
    for (uint32_t z = 0; z < counts_[2]; ++z) {
      for (uint32_t y = 0; y < counts_[1]; ++y) {
        for (uint32_t x = 0; x < counts_[0]; ++x) {
          const bool border = x == 0 || y == 0 || z == 0 || x + 1 == counts_[0] ||
                              y + 1 == counts_[1] || z + 1 == counts_[2];
          const double value = field.value(PositionOf(Number(x, y, z)));
          // Never zero; positive at the border.
          values_.push_back(border ? std::max(value, edge_) : (value == 0.0 ? 1e-30 : value));
        }
      }
    }
  }

  template <class Visit>
  void ForEachTet(Visit visit) const {
    // One tet for each order of the axes, along the cube's diagonal; for odd orders the last two
    // corners are swapped.
    constexpr std::array<std::array<uint32_t, 2>, 6> kOrders = {
        {{1, 3}, {2, 6}, {4, 5}, {1, 5}, {2, 3}, {4, 6}}};
    for (uint32_t z = 0; z + 1 < counts_[2]; ++z) {
      for (uint32_t y = 0; y + 1 < counts_[1]; ++y) {
        for (uint32_t x = 0; x + 1 < counts_[0]; ++x) {
          const auto corner = [&](uint32_t c) {
            return Number(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2 & 1));
          };
          for (size_t k = 0; k < 6; ++k) {
            std::array<uint32_t, 4> tet = {corner(0), corner(kOrders[k][0]), corner(kOrders[k][1]),
                                           corner(7)};
            if (k >= 3) std::swap(tet[2], tet[3]);
            visit(tet);
          }
        }
      }
    }
  }

  double value(uint32_t node) const { return values_[node]; }
  Vec3d PositionOf(uint32_t node) const {
    const uint32_t x = node % counts_[0], y = node / counts_[0] % counts_[1];
    const uint32_t z = node / counts_[0] / counts_[1];
    return low_ +
           Vec3d{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)} * edge_;
  }

 private:
  uint32_t Number(uint32_t x, uint32_t y, uint32_t z) const {
    return (z * counts_[1] + y) * counts_[0] + x;
  }

  double edge_ = 0.0;
  Vec3d low_;
  std::array<uint32_t, 3> counts_ = {};
  std::vector<double> values_;
};

// Builds the surface tet by tet. Vertices lie on edges of the grid, away from its nodes.
class Marcher {
 public:
  Marcher(const Grid& grid, SurfaceMesh* mesh) : grid_(grid), mesh_(*mesh) {}

  // `tet` is positively oriented.
  void March(std::array<uint32_t, 4> tet) {
    // Puts inner corners first by pairs of swaps, which keep the orientation.
    bool odd = false;
    size_t inner = 0;
    for (size_t i = 0; i < 4; ++i) {
      if (grid_.value(tet[i]) > 0.0) continue;
      if (i != inner) {
        std::swap(tet[i], tet[inner]);
        odd = !odd;
      }
      ++inner;
    }
    if (odd) inner < 3 ? std::swap(tet[2], tet[3]) : std::swap(tet[0], tet[1]);
    const auto& [a, b, c, d] = tet;
    if (inner == 1) Add(On(a, b), On(a, c), On(a, d));
    if (inner == 3) Add(On(d, a), On(d, b), On(d, c));
    if (inner == 2) {
      Add(On(a, c), On(a, d), On(b, d));
      Add(On(a, c), On(b, d), On(b, c));
    }
  }

 private:
  void Add(uint32_t a, uint32_t b, uint32_t c) { mesh_.triangles.push_back({a, b, c}); }

  uint32_t On(uint32_t a, uint32_t b) {
    const std::pair key(std::min(a, b), std::max(a, b));
    const auto [at, is_new] = vertices_.emplace(key, static_cast<uint32_t>(mesh_.positions.size()));
    if (is_new) {
      const double from = grid_.value(key.first), to = grid_.value(key.second);
      const double share = std::clamp(from / (from - to), 0.08, 0.92);
      const Vec3d start = grid_.PositionOf(key.first);
      mesh_.positions.push_back(start + (grid_.PositionOf(key.second) - start) * share);
    }
    return at->second;
  }

  const Grid& grid_;
  SurfaceMesh& mesh_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> vertices_;
};

// The zero surface of the field, outwards, by marching tetrahedra on cubes of six tets. Has at
// least `cells` cubes along the longest side, none larger than `finest`. For any field it is
// closed and manifold and does not intersect itself.
SurfaceMesh Polygonise(const Field& field, uint32_t cells) {
  SurfaceMesh mesh;
  const Grid grid(field, cells);
  Marcher marcher(grid, &mesh);
  grid.ForEachTet([&](const std::array<uint32_t, 4>& tet) { marcher.March(tet); });
  CompleteMesh(&mesh);
  return mesh;
}

using tools::Box3;

constexpr double kPi = 3.14159265358979323846;

double Ball(const Vec3d& p, const Vec3d& centre, double radius) {
  return Length(p - centre) - radius;
}

double Capsule(const Vec3d& p, const Vec3d& a, const Vec3d& b, double radius) {
  const Vec3d along = b - a;
  const double t = std::clamp(Dot(p - a, along) / LengthSquared(along), 0.0, 1.0);
  return Length(p - a - along * t) - radius;
}

double Ring(const Vec3d& p, const Vec3d& centre, const Vec3d& axis, double radius, double tube) {
  const Vec3d from = p - centre;
  const double height = Dot(from, axis), out = Length(from - axis * height) - radius;
  return std::sqrt(out * out + height * height) - tube;
}

double SmoothMin(double a, double b, double width) {
  const double h = std::max(width - std::abs(a - b), 0.0) / width;
  return std::min(a, b) - h * h * width * 0.25;
}

// A field whose box extends `reach` beyond another box.
Field FieldOf(std::function<double(const Vec3d&)> value, const Box3& box, double reach,
              double finest) {
  const Vec3d margin = Vec3d{1, 1, 1} * reach;
  return {std::move(value), box.low - margin, box.high + margin, finest};
}

Field SmoothUnion(RandomNumbers* random) {
  struct Part {
    Vec3d a, b;
    double radius;
  };
  std::vector<Part> parts;
  Box3 box;
  const int count = random->Whole(3, 9);
  for (int i = 0; i < count; ++i) {
    Part part;
    part.a = parts.empty() ? Vec3d{} : parts[static_cast<size_t>(random->Whole(0, i - 1))].b;
    part.b = part.a + random->Direction() * random->In(0.2, 1.0);
    part.radius = random->In(0.1, 0.35);
    parts.push_back(part);
    box.Add(part.a);
    box.Add(part.b);
  }
  const double width = random->In(0.05, 0.3);
  return FieldOf(
      [=](const Vec3d& p) {
        double value = 1e9;
        for (const Part& part : parts) {
          value = SmoothMin(value, Capsule(p, part.a, part.b, part.radius), width);
        }
        return value;
      },
      box, 0.6, 0.07);
}

// As thick as wide; to be squashed.
Field Plate(RandomNumbers* random) {
  std::vector<Vec3d> discs;
  std::vector<Vec3d> holes;
  Box3 box;
  for (int i = random->Whole(2, 6); i > 0; --i) {
    discs.push_back({random->In(-0.8, 0.8), random->In(-0.8, 0.8), random->In(0.3, 0.7)});
  }
  for (int i = random->Whole(0, 3); i > 0; --i) {
    holes.push_back({random->In(-0.5, 0.5), random->In(-0.5, 0.5), random->In(0.15, 0.3)});
  }
  box.Add(Vec3d{-1.5, -1.5, -0.5});
  box.Add(Vec3d{1.5, 1.5, 0.5});
  const auto value = [=](const Vec3d& p) {
    double flat = 1e9;
    const Vec3d in_plane = {p.x, p.y, 0.0};
    for (const Vec3d& disc : discs) {
      flat = SmoothMin(flat, Ball(in_plane, {disc.x, disc.y, 0.0}, disc.z), 0.2);
    }
    for (const Vec3d& hole : holes) {
      flat = std::max(flat, -Ball(in_plane, {hole.x, hole.y, 0.0}, hole.z));
    }
    return std::max(flat, std::abs(p.z) - 0.35);
  };
  return FieldOf(value, box, 0.1, 0.12);
}

Field ChainOfRings(RandomNumbers* random) {
  const int genus = random->Whole(1, 5);
  const double tube = random->In(0.1, 0.3), apart = 1.6 + tube * random->In(-0.5, 1.5);
  const double bend = random->In(0.0, 0.5);
  std::vector<Vec3d> centres;
  Vec3d direction = {1, 0, 0};
  Box3 box;
  Vec3d centre;
  for (int i = 0; i < genus; ++i) {
    centres.push_back(centre);
    box.Add(centre);
    direction = direction + Vec3d{0, random->In(-bend, bend), 0};
    direction = direction / Length(direction);
    centre += direction * apart;
  }
  return FieldOf(
      [=](const Vec3d& p) {
        double value = 1e9;
        for (const Vec3d& c : centres) {
          value = SmoothMin(value, Ring(p, c, {0, 0, 1}, 0.8, tube), 0.1);
        }
        return value;
      },
      box, 0.9 + tube, 0.7 * tube);
}

Field Knot(RandomNumbers* random) {
  constexpr int kWindings[][2] = {{2, 3}, {2, 5}, {3, 4}, {3, 5}, {2, 7}, {1, 3}};
  const auto& [p_turns, q_turns] = kWindings[random->Whole(0, 5)];
  const double inner = random->In(0.35, 0.5), tube = random->In(0.08, 0.16);
  std::vector<Vec3d> curve;
  Box3 box;
  for (int i = 0; i < 160; ++i) {
    const double t = 2.0 * kPi * i / 160, out = 1.0 + inner * std::cos(q_turns * t);
    curve.push_back(
        {out * std::cos(p_turns * t), out * std::sin(p_turns * t), inner * std::sin(q_turns * t)});
    box.Add(curve.back());
  }
  return FieldOf(
      [=](const Vec3d& p) {
        double least = 1e9;
        for (size_t i = 0; i < curve.size(); ++i) {
          least = std::min(least, Capsule(p, curve[i], curve[(i + 1) % curve.size()], tube));
        }
        return least;
      },
      box, 1.5 * tube, 0.7 * tube);
}

Field Shells(RandomNumbers* random) {
  struct Shell {
    Vec3d centre;
    double outer, inner;
  };
  std::vector<Shell> shells;
  Vec3d centre;
  double outer = 1.0;
  for (int i = random->Whole(1, 3); i > 0; --i) {
    const double inner = outer * random->In(0.6, 0.85);
    shells.push_back({centre, outer, inner});
    centre += random->Direction() * random->In(0.0, 0.1) * inner;
    outer = inner * random->In(0.5, 0.8);
  }
  const bool is_full = random->Whole(0, 1) == 1;
  if (is_full) shells.push_back({centre, outer, 0.0});
  Box3 box;
  box.Add(Vec3d{0, 0, 0});
  return FieldOf(
      [=](const Vec3d& p) {
        double value = 1e9;
        for (const Shell& shell : shells) {
          const double distance = Length(p - shell.centre);
          value = std::min(value, std::max(distance - shell.outer, shell.inner - distance));
        }
        return value;
      },
      box, 1.1, 0.8 * (shells.back().outer - shells.back().inner));
}

Field Fingers(RandomNumbers* random) {
  struct Finger {
    Vec3d root, tip;
    double radius;
  };
  std::vector<Finger> fingers;
  Box3 box;
  double x = 0.0;
  const int count = random->Whole(2, 5);
  const double gap = random->In(0.06, 0.15);
  for (int i = 0; i < count; ++i) {
    const double radius = random->In(0.1, 0.2);
    x += radius;
    const double lean = random->In(-0.02, 0.02);
    fingers.push_back({{x, 0, 0}, {x + lean, random->In(0.8, 1.6), lean}, radius});
    box.Add(fingers.back().tip);
    x += radius + gap;
  }
  box.Add(Vec3d{0, -0.3, 0});
  box.Add(Vec3d{x, -0.3, 0});
  const Vec3d end = {x, -0.1, 0};
  return FieldOf(
      [=](const Vec3d& p) {
        double value = Capsule(p, {0, -0.1, 0}, end, 0.22);
        for (const Finger& finger : fingers) {
          value = std::min(value, Capsule(p, finger.root, finger.tip, finger.radius));
        }
        return value;
      },
      box, 0.3, 0.7 * gap);
}

// Short and thick; to be stretched along x.
Field Needles(RandomNumbers* random) {
  struct Needle {
    Vec3d base;
    double radius, length;
  };
  std::vector<Needle> needles;
  Box3 box;
  for (int i = random->Whole(1, 4); i > 0; --i) {
    Needle needle;
    needle.base = {0.0, random->In(-0.5, 0.5), random->In(-0.5, 0.5)};
    needle.radius = random->In(0.12, 0.25);
    needle.length = random->In(0.6, 1.6);
    needles.push_back(needle);
    box.Add(needle.base);
    box.Add(needle.base + Vec3d{needle.length, 0, 0});
  }
  return FieldOf(
      [=](const Vec3d& p) {
        double value = Capsule(p, {0, -0.4, -0.4}, {0, 0.4, 0.4}, 0.2);
        for (const Needle& needle : needles) {
          const Vec3d from = p - needle.base;
          const double along = from.x / needle.length;
          const double radius = needle.radius * std::max(0.0, 1.0 - along);
          const double out = std::sqrt(from.y * from.y + from.z * from.z) - radius;
          value = std::min(value, std::max({out, -from.x, from.x - needle.length}));
        }
        return value;
      },
      box, 0.4, 0.06);
}

Field Links(RandomNumbers* random) {
  struct Link {
    Vec3d centre, axis;
  };
  std::vector<Link> links;
  Box3 box;
  const int count = random->Whole(2, 4);
  const double tube = random->In(0.1, 0.2);
  for (int i = 0; i < count; ++i) {
    const double tilt = random->In(-0.15, 0.15);
    const Vec3d axis = i % 2 == 0 ? Vec3d{0, tilt, 1} : Vec3d{0, 1, tilt};
    links.push_back({{1.1 * i, 0, 0}, axis / Length(axis)});
    box.Add(links.back().centre);
  }
  return FieldOf(
      [=](const Vec3d& p) {
        double value = 1e9;
        for (const Link& link : links) {
          value = std::min(value, Ring(p, link.centre, link.axis, 0.8, tube));
        }
        return value;
      },
      box, 0.85 + tube, 0.7 * tube);
}

// A sponge inside a ball: one surface of high genus, or several surfaces.
Field Sponge(RandomNumbers* random) {
  const double wave = random->In(3.0, 6.0), level = random->In(-0.3, 0.5);
  const Vec3d phase = random->Point({0, 0, 0}, {6, 6, 6});
  Box3 box;
  box.Add(Vec3d{0, 0, 0});
  return FieldOf(
      [=](const Vec3d& p) {
        const Vec3d q = p * wave + phase;
        const double gyroid = std::sin(q.x) * std::cos(q.y) + std::sin(q.y) * std::cos(q.z) +
                              std::sin(q.z) * std::cos(q.x) - level;
        return std::max(gyroid / wave, Length(p) - 1.0);
      },
      box, 1.05, 0.5 / wave);
}

// Closed surfaces that may intersect each other.
SurfaceMesh Scattered(RandomNumbers* random, uint32_t cells) {
  SurfaceMesh all;
  for (int i = random->Whole(2, 6); i > 0; --i) {
    Field field = random->Whole(0, 1) == 0 ? SmoothUnion(random) : ChainOfRings(random);
    SurfaceMesh mesh = Polygonise(field, cells / 2);
    const Vec3d shift = random->Point({-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5});
    for (Vec3d& p : mesh.positions) p = p * 0.5 + shift;
    all = all.positions.empty() ? mesh : Joined(all, mesh);
  }
  return all;
}

// Squashes along z or stretches along x.
void Stretch(const Vec3d& by, SurfaceMesh* mesh) {
  for (Vec3d& p : mesh->positions) p = {p.x * by.x, p.y * by.y, p.z * by.z};
}

void Place(RandomNumbers* random, SurfaceMesh* mesh) {
  const Vec3d x = random->Direction();
  Vec3d y = Cross(x, random->Direction());
  y = y / Length(y);
  const Vec3d z = Cross(x, y);
  const double exponent = random->In(-2.0, 2.0), scale = std::pow(10.0, exponent);
  const Vec3d offset = random->Direction() * scale * random->In(0.0, 10.0);
  const bool turned = random->Whole(0, 3) > 0;
  for (Vec3d& p : mesh->positions) {
    if (turned) p = x * p.x + y * p.y + z * p.z;
    p = p * scale + offset;
  }
}

}  // namespace

const char* const kFamilyNames[kNumFamilies] = {"smooth union", "thin plate", "rings",   "knot",
                                                "shells",       "fingers",    "needles", "links",
                                                "scattered",    "sponge"};

SurfaceMesh RandomSolid(uint32_t seed) {
  RandomNumbers random(seed);
  const auto cells = static_cast<uint32_t>(random.Whole(18, 40));
  using Maker = Field (*)(RandomNumbers*);
  constexpr Maker kMakers[kNumFamilies] = {SmoothUnion, Plate,   ChainOfRings, Knot,    Shells,
                                           Fingers,     Needles, Links,        nullptr, Sponge};
  const uint32_t family = seed % kNumFamilies;
  SurfaceMesh mesh = kMakers[family] == nullptr ? Scattered(&random, cells)
                                                : Polygonise(kMakers[family](&random), cells);
  if (family == 1) Stretch({1, 1, random.In(0.02, 0.3)}, &mesh);
  if (family == 6) Stretch({random.In(2, 12), 1, 1}, &mesh);
  Place(&random, &mesh);
  CompleteMesh(&mesh);
  return mesh;
}

}  // namespace plush::tests
