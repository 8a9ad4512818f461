// SPDX-License-Identifier: MIT
// Makes small meshes from grids, each with normals and one part.
#include "tools/procedural_meshes.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace plush::tests {
namespace {

constexpr double kPi = 3.14159265358979323846;

using Triangle = std::array<uint32_t, 3>;

// Adds a closed grid of quadrilaterals that wraps in both directions.
void AddWrappedGrid(uint32_t rows, uint32_t columns, SurfaceMesh* mesh) {
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < columns; ++j) {
      const uint32_t i1 = (i + 1) % rows, j1 = (j + 1) % columns, a = i * columns + j;
      const uint32_t b = i * columns + j1, c = i1 * columns + j1, d = i1 * columns + j;
      mesh->triangles.push_back({a, b, c});
      mesh->triangles.push_back({a, c, d});
    }
  }
}

// Adds one face of a grid box: an origin and two edges whose cross product points outwards.
void AddGridFace(const Vec3d& origin, const Vec3d& u, const Vec3d& v, uint32_t n,
                 SurfaceMesh* mesh) {
  const auto base = static_cast<uint32_t>(mesh->positions.size());
  for (uint32_t i = 0; i <= n; ++i) {
    for (uint32_t j = 0; j <= n; ++j) {
      const double s = static_cast<double>(i) / n, t = static_cast<double>(j) / n;
      // Whole steps reproduce the corners exactly, so that faces weld along the box's edges.
      mesh->positions.push_back(origin + u * s + v * t);
    }
  }
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t a = base + i * (n + 1) + j, b = a + n + 1;
      mesh->triangles.push_back({a, b, b + 1});
      mesh->triangles.push_back({a, b + 1, a + 1});
    }
  }
}

}  // namespace

double SixTimesVolume(const SurfaceMesh& mesh) {
  double sum = 0.0;
  for (const auto& t : mesh.triangles) {
    sum += Dot(mesh.positions[t[0]], Cross(mesh.positions[t[1]], mesh.positions[t[2]]));
  }
  return sum;
}

void CompleteMesh(SurfaceMesh* mesh) {
  std::vector<Vec3d> sums(mesh->positions.size());
  for (const Triangle& t : mesh->triangles) {
    const Vec3d n = Cross(mesh->positions[t[1]] - mesh->positions[t[0]],
                          mesh->positions[t[2]] - mesh->positions[t[0]]);
    for (const uint32_t v : t) sums[v] += n;
  }
  mesh->normals.assign(mesh->positions.size(), Vec3{0.0f, 1.0f, 0.0f});
  for (size_t v = 0; v < sums.size(); ++v) {
    const double length = Length(sums[v]);
    if (!(length > 0.0)) continue;
    const Vec3d n = sums[v] / length;
    mesh->normals[v] = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
  }
  if (mesh->parts.empty() && !mesh->triangles.empty()) {
    mesh->parts.push_back({"body", "", "", 0, static_cast<uint32_t>(mesh->triangles.size())});
  }
}

SurfaceMesh MakeSphere(double radius, uint32_t rings, uint32_t segments, const Vec3d& centre) {
  SurfaceMesh mesh;
  mesh.positions.push_back(centre + Vec3d{0.0, radius, 0.0});
  for (uint32_t i = 1; i < rings; ++i) {
    const double polar = kPi * i / rings;
    for (uint32_t j = 0; j < segments; ++j) {
      const double turn = 2.0 * kPi * j / segments;
      mesh.positions.push_back(centre + Vec3d{radius * std::sin(polar) * std::sin(turn),
                                              radius * std::cos(polar),
                                              radius * std::sin(polar) * std::cos(turn)});
    }
  }
  mesh.positions.push_back(centre - Vec3d{0.0, radius, 0.0});
  const auto last = static_cast<uint32_t>(mesh.positions.size() - 1);
  for (uint32_t j = 0; j < segments; ++j) {
    const uint32_t next = (j + 1) % segments;
    mesh.triangles.push_back({0, 1 + j, 1 + next});
    for (uint32_t i = 0; i + 2 < rings; ++i) {
      const uint32_t upper = 1 + i * segments, lower = upper + segments;
      mesh.triangles.push_back({upper + j, lower + j, lower + next});
      mesh.triangles.push_back({upper + j, lower + next, upper + next});
    }
    const uint32_t ring = 1 + (rings - 2) * segments;
    mesh.triangles.push_back({last, ring + next, ring + j});
  }
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeBox(const Vec3d& low, const Vec3d& high) {
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < 8; ++i) {
    mesh.positions.push_back(
        {(i & 1) ? high.x : low.x, (i & 2) ? high.y : low.y, (i & 4) ? high.z : low.z});
  }
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                    {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {2, 6, 7}, {2, 7, 3}};
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeOpenBox(const Vec3d& low, const Vec3d& high) {
  SurfaceMesh mesh = MakeBox(low, high);
  mesh.triangles.resize(10);  // the +y face is the last two
  mesh.parts.clear();
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeGridBox(const Vec3d& low, const Vec3d& high, uint32_t n) {
  SurfaceMesh mesh;
  const Vec3d size = high - low, x = {size.x, 0.0, 0.0}, y = {0.0, size.y, 0.0};
  const Vec3d z = {0.0, 0.0, size.z};
  AddGridFace(low, z, y, n, &mesh);
  AddGridFace(low + x, y, z, n, &mesh);
  AddGridFace(low, x, z, n, &mesh);
  AddGridFace(low + y, z, x, n, &mesh);
  AddGridFace(low, y, x, n, &mesh);
  AddGridFace(low + z, x, y, n, &mesh);
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeMoebiusStrip(double radius, double width, uint32_t segments) {
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < segments; ++i) {
    const double turn = 2.0 * kPi * i / segments;
    for (const double side : {-0.5, 0.5}) {
      const double out = radius + side * width * std::cos(turn / 2.0);
      mesh.positions.push_back(
          {out * std::cos(turn), side * width * std::sin(turn / 2.0), out * std::sin(turn)});
    }
  }
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t a = 2 * i;
    const bool last = i + 1 == segments;  // the half turn joins the band to its other side
    const uint32_t c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    mesh.triangles.push_back({a, a + 1, c});
    mesh.triangles.push_back({c, a + 1, d});
  }
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeOverlappingBoxes() {
  return Joined(MakeBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}),
                MakeBox({0.5, 0.5, 0.5}, {1.5, 1.5, 1.5}));
}

SurfaceMesh MakeNestedShells(bool outer_inward, bool inner_inward) {
  SurfaceMesh outer = MakeSphere(1.0, 12, 18), inner = MakeSphere(0.5, 12, 18);
  if (outer_inward) FlipTriangles(&outer, 0, outer.triangles.size());
  if (inner_inward) FlipTriangles(&inner, 0, inner.triangles.size());
  return Joined(outer, inner);
}

SurfaceMesh MakeTorus(double ring_radius, double tube_radius, uint32_t ring_segments,
                      uint32_t tube_segments) {
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < ring_segments; ++i) {
    const double turn = 2.0 * kPi * i / ring_segments;
    for (uint32_t j = 0; j < tube_segments; ++j) {
      const double tube = 2.0 * kPi * j / tube_segments;
      const double out = ring_radius + tube_radius * std::cos(tube);
      mesh.positions.push_back(
          {out * std::cos(turn), tube_radius * std::sin(tube), out * std::sin(turn)});
    }
  }
  AddWrappedGrid(ring_segments, tube_segments, &mesh);
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeTetGrid(int n, double leg) {
  SurfaceMesh mesh;
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3d at = {double(i % n), double(i / n % n), double(i / n / n)};
    const auto first = static_cast<uint32_t>(mesh.positions.size());
    for (const Vec3d& leg_end : {Vec3d{}, Vec3d{leg, 0, 0}, Vec3d{0, leg, 0}, Vec3d{0, 0, leg}}) {
      mesh.positions.push_back(at + leg_end);
    }
    for (const std::array<uint32_t, 3>& t :
         {std::array<uint32_t, 3>{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}) {
      mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
  }
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh MakeTriangleSoup(uint32_t count, double size, uint32_t seed) {
  std::mt19937 random(seed);
  const auto unit = [&random] { return static_cast<double>(random()) / 4294967296.0; };
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < count; ++i) {
    const Vec3d centre = {unit(), unit(), unit()};
    for (int corner = 0; corner < 3; ++corner) {
      mesh.positions.push_back(centre + size * Vec3d{unit() - 0.5, unit() - 0.5, unit() - 0.5});
    }
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  CompleteMesh(&mesh);
  return mesh;
}

SurfaceMesh Joined(const SurfaceMesh& a, const SurfaceMesh& b) {
  SurfaceMesh mesh = a;
  const auto base = static_cast<uint32_t>(a.positions.size());
  const auto first = static_cast<uint32_t>(a.triangles.size());
  mesh.positions.insert(mesh.positions.end(), b.positions.begin(), b.positions.end());
  mesh.normals.insert(mesh.normals.end(), b.normals.begin(), b.normals.end());
  for (const Triangle& t : b.triangles) {
    mesh.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  }
  for (tools::SurfacePart part : b.parts) {
    part.first_triangle += first;
    mesh.parts.push_back(part);
  }
  return mesh;
}

void FlipTriangles(SurfaceMesh* mesh, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    std::swap(mesh->triangles[i][1], mesh->triangles[i][2]);
  }
  CompleteMesh(mesh);
}

SurfaceMesh Exploded(const SurfaceMesh& mesh) {
  SurfaceMesh result = {.parts = mesh.parts};
  for (const Triangle& t : mesh.triangles) {
    const auto base = static_cast<uint32_t>(result.positions.size());
    for (const uint32_t v : t) result.positions.push_back(mesh.positions[v]);
    result.triangles.push_back({base, base + 1, base + 2});
  }
  CompleteMesh(&result);
  return result;
}

void WriteObj(const SurfaceMesh& mesh, const std::string& path) {
  std::string text;
  char line[128];
  for (const Vec3d& p : mesh.positions) {
    std::snprintf(line, sizeof(line), "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    text += line;
  }
  size_t part = 0;
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    while (part < mesh.parts.size() && mesh.parts[part].first_triangle == i) {
      if (!mesh.parts[part].name.empty()) text += "o " + mesh.parts[part].name + "\n";
      ++part;
    }
    const Triangle& t = mesh.triangles[i];
    std::snprintf(line, sizeof(line), "f %u %u %u\n", t[0] + 1, t[1] + 1, t[2] + 1);
    text += line;
  }
  WriteText(path, text);
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "plush-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace plush::tests
