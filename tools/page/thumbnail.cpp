// SPDX-License-Identifier: MIT
// A z-buffer with edge functions.
// Source: Juan Pineda. A Parallel Algorithm for Polygon Rasterization. SIGGRAPH 1988
#include "page/thumbnail.h"

#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "base/vec3.h"
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

constexpr uint32_t kWidth = 160;
constexpr uint32_t kHeight = 120;
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

Soup SoupOf(const Asset& asset) {
  Soup soup;
  const auto add_points = [&soup](std::span<const Vec3> points) {
    for (const Vec3& p : points) soup.points.push_back(ToDouble(p));
  };
  if (asset.is_static()) {
    add_points(asset.static_mesh().positions);
    for (const StaticTriangle& t : asset.static_mesh().triangles) {
      soup.Add(t.vertices[0], t.vertices[1], t.vertices[2], kGrey);
    }
    return soup;
  }
  const VisualView& v = asset.visual();
  Palette palette;
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    const uint32_t material = palette.IndexOf(part.material);
    for (uint32_t k = part.first_index; k < part.first_index + part.num_indices; k += 3) {
      soup.Add(v.indices[k], v.indices[k + 1], v.indices[k + 2],
               palette.materials()[material].linear_rgb);
    }
  }
  add_points(soup.triangles.empty() ? asset.simulation().nodes : v.positions);
  if (!soup.triangles.empty()) return soup;
  TetMesh mesh;
  mesh.nodes = soup.points;
  for (const Tet& t : asset.simulation().tets) mesh.tets.push_back({t.a, t.b, t.c, t.d});
  for (const BoundaryFace& face : FindBoundaryFaces(mesh)) {
    soup.Add(face.nodes[0], face.nodes[1], face.nodes[2], kGrey);
  }
  return soup;
}

// Turns points so that x is to the right, y up and z towards the eye: 30 degrees from the right, 20
// from above.
Vec3d Seen(const Vec3d& p) {
  constexpr double kCosY = 0.8660254037844387, kSinY = 0.5;
  constexpr double kCosX = 0.9396926207859084, kSinX = 0.3420201433256687;
  const double x = kCosY * p.x - kSinY * p.z;
  const double z = kSinY * p.x + kCosY * p.z;
  return {x, kCosX * p.y - kSinX * z, kSinX * p.y + kCosX * z};
}

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

Picture DrawThumbnail(const Asset& asset, uint32_t width, uint32_t height) {
  const Soup soup = SoupOf(asset);
  Box3 box;
  std::vector<Vec3d> seen;
  for (const Vec3d& p : soup.points) seen.push_back(Seen(p));
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
    const Vec3d normal = Cross(Seen(soup.points[b]) - Seen(soup.points[a]),
                               Seen(soup.points[c]) - Seen(soup.points[a]));
    const double length = Length(normal);
    if (length == 0.0) continue;
    const double light = 0.25 + 0.75 * std::fabs(Dot(normal, {0.3, 0.5, 0.8124}) / length);
    const Vec3& colour = soup.colours[t];
    canvas.Fill({seen[a], seen[b], seen[c]},
                {Byte(light * double{colour.x}), Byte(light * double{colour.y}),
                 Byte(light * double{colour.z}), 255});
  }
  return canvas.picture();
}

nlohmann::json ThumbnailArray(const Asset& asset, PackedArrays* arrays) {
  const Picture picture = DrawThumbnail(asset, kWidth, kHeight);
  return {{"width", kWidth}, {"height", kHeight}, {"pixels", arrays->AddRows(picture.pixels)}};
}

}  // namespace plush::tools
