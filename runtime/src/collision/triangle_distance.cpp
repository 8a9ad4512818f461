// SPDX-License-Identifier: MIT
#include "collision/triangle_distance.h"

namespace plush {
namespace {

double Dot(const double (&a)[3], const double (&b)[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// u x v . w
double Triple(const double (&u)[3], const double (&v)[3], const double (&w)[3]) {
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
         (u[0] * v[1] - u[1] * v[0]) * w[2];
}

// The nearest place of edge ab, with part 0 for the third corner; keeps `best` where that is
// nearer.
void TryEdge(const double (&a)[3], const double (&b)[3], int i, int j, TrianglePlace* best) {
  const double edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double length2 = Dot(edge, edge);
  double s = length2 > 0.0 ? -Dot(a, edge) / length2 : 0.0;
  s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
  const double p[3] = {a[0] + s * edge[0], a[1] + s * edge[1], a[2] + s * edge[2]};
  const double distance2 = Dot(p, p);
  if (!(distance2 < best->distance2)) return;
  *best = {{}, distance2};
  best->part[i] = 1.0 - s;
  best->part[j] = s;
}

}  // namespace

TrianglePlace NearestToOrigin(const double (&a)[3], const double (&b)[3], const double (&c)[3]) {
  const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  const double normal[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2],
                            e[0] * f[1] - e[1] * f[0]};
  // Parts of the foot of the perpendicular, times |normal|^2.
  const double u = Triple(b, c, normal), v = Triple(c, a, normal), w = Triple(a, b, normal);
  const double sum = u + v + w;
  if (u >= 0.0 && v >= 0.0 && w >= 0.0 && sum > 0.0) {
    const double height = Dot(a, normal);
    const double normal2 = Dot(normal, normal);
    // Below that, what there is of a normal may be rounding: the edges then know better.
    if (normal2 > 1.0e-26 * Dot(e, e) * Dot(f, f))
      return {{u / sum, v / sum, w / sum}, height * height / normal2};
  }
  TrianglePlace best = {{1.0, 0.0, 0.0}, Dot(a, a)};
  TryEdge(a, b, 0, 1, &best);
  TryEdge(b, c, 1, 2, &best);
  TryEdge(c, a, 2, 0, &best);
  return best;
}

}  // namespace plush
