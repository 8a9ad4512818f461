// SPDX-License-Identifier: MIT
// A z-buffer with edge functions.
// Source: Juan Pineda. A Parallel Algorithm for Polygon Rasterization. SIGGRAPH 1988
#include "page/model_picture.h"

#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "base/vec3.h"
#include "export/cage_exports.h"
#include "mesh/box3.h"
#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"
#include "simulate/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush::tools {
namespace {

constexpr Vec3 kGrey = {0.35f, 0.35f, 0.35f};

// Triangles with a linear colour each.
struct Soup {
  std::vector<Vec3d> points;
  std::vector<std::array<uint32_t, 3>> triangles;
  std::vector<Vec3> colours;  // (num_triangles x 1)

  void Add(uint32_t a, uint32_t b, uint32_t c, const Vec3& colour) {
    triangles.push_back({a, b, c});
    colours.push_back(colour);
  }
};

void AddPoints(std::span<const Vec3> points, Soup* soup) {
  for (const Vec3& p : points) soup->points.push_back(ToDouble(p));
}

Soup StaticSoup(const Asset& asset) {
  Soup soup;
  AddPoints(asset.static_mesh().positions, &soup);
  for (const StaticTriangle& t : asset.static_mesh().triangles) {
    soup.Add(t.vertices[0], t.vertices[1], t.vertices[2], kGrey);
  }
  return soup;
}

// The colours of the palette, or those of the source where it has the material.
Vec3 ColourOf(const NamedColour& material, std::span<const SourceMaterial> source) {
  for (const SourceMaterial& from : source) {
    if (from.name == material.name) return from.linear_rgb;
  }
  return material.linear_rgb;
}

Soup SurfaceSoup(const Asset& asset, std::span<const SourceMaterial> source) {
  Soup soup;
  const VisualView& v = asset.visual();
  Palette palette;
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    const uint32_t material = palette.IndexOf(part.material);
    const Vec3 colour = ColourOf(palette.materials()[material], source);
    for (uint32_t k = part.first_index; k < part.first_index + part.num_indices; k += 3) {
      soup.Add(v.indices[k], v.indices[k + 1], v.indices[k + 2], colour);
    }
  }
  AddPoints(v.positions, &soup);
  return soup;
}

// The faces of the cage; `values` from 0 to 1 by tet, empty for grey.
Soup CageSoup(const Asset& asset, std::span<const float> values) {
  Soup soup;
  AddPoints(asset.simulation().nodes, &soup);
  TetMesh mesh;
  mesh.nodes = soup.points;
  for (const Tet& t : asset.simulation().tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
  for (const BoundaryFace& face : FindBoundaryFaces(mesh)) {
    const Vec3 colour = values.empty() ? kGrey : RampColour(double{values[face.tet]});
    soup.Add(face.nodes[0], face.nodes[1], face.nodes[2], colour);
  }
  return soup;
}

Soup SoupOf(const Asset& asset, const ModelView& view) {
  if (asset.is_static()) return StaticSoup(asset);
  const bool has_surface = !asset.visual().indices.empty();
  if (view.colours == ModelColours::kMaterial) {
    return has_surface ? SurfaceSoup(asset, view.source) : CageSoup(asset, {});
  }
  CageTable table = MeasureCage(asset);
  if (view.colours == ModelColours::kQuality) return CageSoup(asset, table.quality);
  for (float& angle : table.min_dihedral_deg) angle /= kMostDihedral;
  return CageSoup(asset, table.min_dihedral_deg);
}

// Turns points so that x is to the right, y up and z towards the eye.
class Turn {
 public:
  explicit Turn(const ModelView& view)
      : cos_y_(std::cos(view.turn_deg * kRadians)),
        sin_y_(std::sin(view.turn_deg * kRadians)),
        cos_x_(std::cos(view.tilt_deg * kRadians)),
        sin_x_(std::sin(view.tilt_deg * kRadians)) {}

  Vec3d operator()(const Vec3d& p) const {
    const double x = cos_y_ * p.x - sin_y_ * p.z;
    const double z = sin_y_ * p.x + cos_y_ * p.z;
    return {x, cos_x_ * p.y - sin_x_ * z, sin_x_ * p.y + cos_x_ * z};
  }

 private:
  static constexpr double kRadians = 0.017453292519943295;
  double cos_y_, sin_y_, cos_x_, sin_x_;
};

// The sRGB byte of a linear value; the curve is taken as a square root.
uint8_t Byte(double linear) {
  return static_cast<uint8_t>(255.0 * std::sqrt(std::clamp(linear, 0.0, 1.0)) + 0.5);
}

class Canvas {
 public:
  Canvas(uint32_t width, uint32_t height)
      : depth_(size_t{width} * height, -std::numeric_limits<double>::infinity()) {
    picture_ = {width, height, std::vector<Picture::Pixel>(size_t{width} * height)};
  }

  // Points in pixels, z towards the eye.
  void Fill(const std::array<Vec3d, 3>& p, const Picture::Pixel& pixel) {
    const double area = Cross2(p[1] - p[0], p[2] - p[0]);
    if (area == 0.0) return;
    const auto [first_x, last_x] = Range(p[0].x, p[1].x, p[2].x, picture_.width);
    const auto [first_y, last_y] = Range(p[0].y, p[1].y, p[2].y, picture_.height);
    for (uint32_t y = first_y; y < last_y; ++y) {
      for (uint32_t x = first_x; x < last_x; ++x) {
        const Vec3d at = {x + 0.5, y + 0.5, 0.0};
        const double a = Cross2(p[2] - p[1], at - p[1]) / area;
        const double b = Cross2(p[0] - p[2], at - p[2]) / area;
        const double c = 1.0 - a - b;
        if (a < 0.0 || b < 0.0 || c < 0.0) continue;
        const size_t i = size_t{y} * picture_.width + x;
        const double z = a * p[0].z + b * p[1].z + c * p[2].z;
        if (z <= depth_[i]) continue;
        depth_[i] = z;
        picture_.pixels[i] = pixel;
      }
    }
  }

  const Picture& picture() const { return picture_; }

 private:
  static double Cross2(const Vec3d& a, const Vec3d& b) { return a.x * b.y - a.y * b.x; }

  // Pixels between the least and the greatest, within [0, size).
  static std::pair<uint32_t, uint32_t> Range(double a, double b, double c, uint32_t size) {
    const double low = std::floor(std::min({a, b, c})), high = std::ceil(std::max({a, b, c}));
    return {static_cast<uint32_t>(std::clamp(low, 0.0, double(size))),
            static_cast<uint32_t>(std::clamp(high, 0.0, double(size)))};
  }

  Picture picture_;
  std::vector<double> depth_;
};

}  // namespace

Picture::Pixel PixelOf(const Vec3& linear, double light) {
  return {Byte(light * double{linear.x}), Byte(light * double{linear.y}),
          Byte(light * double{linear.z}), 255};
}

Vec3 RampColour(double share) {
  // Viridis by Smith and van der Walt, sampled; sRGB.
  static constexpr std::array<std::array<uint8_t, 3>, 9> kRamp = {{{68, 1, 84},
                                                                   {71, 45, 123},
                                                                   {59, 82, 139},
                                                                   {44, 114, 142},
                                                                   {33, 145, 140},
                                                                   {40, 174, 128},
                                                                   {94, 201, 98},
                                                                   {173, 220, 48},
                                                                   {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * 8.0;
  const auto i = std::min<size_t>(7, static_cast<size_t>(at));
  std::array<float, 3> linear = {};
  for (size_t k = 0; k < 3; ++k) {
    const double low = kRamp[i][k], high = kRamp[i + 1][k];
    const double value = (low + (at - static_cast<double>(i)) * (high - low)) / 255.0;
    linear[k] = static_cast<float>(value * value);  // as Byte takes it back
  }
  return {linear[0], linear[1], linear[2]};
}

Picture DrawModel(const Asset& asset, const ModelView& view, uint32_t width, uint32_t height) {
  const Soup soup = SoupOf(asset, view);
  const Turn turn(view);
  Box3 box;
  std::vector<Vec3d> seen;
  for (const Vec3d& p : soup.points) seen.push_back(turn(p));
  for (const auto& triangle : soup.triangles) {
    for (const uint32_t corner : triangle) box.Add(seen[corner]);
  }
  Canvas canvas(width, height);
  if (soup.triangles.empty()) return canvas.picture();
  const Vec3d size = box.high - box.low, middle = 0.5 * (box.low + box.high);
  const double span = std::max({size.x / width, size.y / height, 1e-30});
  const double scale = 0.94 / span;
  for (Vec3d& p : seen) {
    p = {0.5 * width + scale * (p.x - middle.x), 0.5 * height - scale * (p.y - middle.y), p.z};
  }
  for (size_t t = 0; t < soup.triangles.size(); ++t) {
    const auto& [a, b, c] = soup.triangles[t];
    const Vec3d normal = Cross(turn(soup.points[b]) - turn(soup.points[a]),
                               turn(soup.points[c]) - turn(soup.points[a]));
    const double length = Length(normal);
    if (length == 0.0) continue;
    const double light = 0.25 + 0.75 * std::fabs(Dot(normal, {0.3, 0.5, 0.8124}) / length);
    const Vec3& colour = soup.colours[t];
    canvas.Fill({seen[a], seen[b], seen[c]}, PixelOf(colour, light));
  }
  return canvas.picture();
}

}  // namespace plush::tools
