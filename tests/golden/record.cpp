// SPDX-License-Identifier: MIT
#include "golden/record.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <sstream>

namespace plush::golden {
namespace {

std::string Format(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

std::string ToText(const Moment& m) {
  std::string text =
      Format("step %d\nhash %016" PRIx64 "\nevents %016" PRIx64 "\n", m.step, m.hash, m.events);
  text += Format("energy %.6g %.6g %.6g\n", m.kinetic, m.elastic, m.gravity);
  text += Format("deepest %.4g\n", m.deepest);
  text += Format("contacts %u pairs %u asleep %u\n", m.contacts, m.body_pairs, m.asleep);
  for (const Vec3& x : m.nodes) {
    text += Format("%.6g %.6g %.6g\n", static_cast<double>(x.x), static_cast<double>(x.y),
                   static_cast<double>(x.z));
  }
  return text;
}

std::string ToText(const Peaks& p) {
  return Format(
      "contacts %u\nbody_pairs %u\nsubsteps %u\nouter_iterations %u\nlinear_iterations %u\n"
      "asleep %u\nflags %u\ncalls_that_allocate %" PRIu64 "\n",
      p.contacts, p.body_pairs, p.substeps, p.outer_iterations, p.linear_iterations, p.asleep,
      p.flags, p.calls_that_allocate);
}

double DistanceOfNodes(const Moment& a, const Moment& b) {
  if (a.nodes.size() != b.nodes.size() || a.nodes.empty()) return INFINITY;
  double sum = 0.0;
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const double x = a.nodes[i].x - b.nodes[i].x, y = a.nodes[i].y - b.nodes[i].y,
                 z = a.nodes[i].z - b.nodes[i].z;
    sum += x * x + y * y + z * z;
  }
  return std::sqrt(sum / static_cast<double>(a.nodes.size()));
}

}  // namespace

std::string ToText(const Record& record) {
  const Limits& l = record.limits;
  std::string text = Format("size %.6g\nenergy_scale %.4g\nmost_energy %.4g\nmomentum %.2g\n",
                            l.size, l.scale, l.most, l.momentum);
  text += ToText(record.peaks);
  for (const Moment& moment : record.moments) text += ToText(moment);
  return text;
}

bool FromText(const std::string& text, Record* record) {
  std::istringstream in(text);
  *record = {};
  Limits& l = record->limits;
  std::string word;
  if (!(in >> word >> l.size >> word >> l.scale >> word >> l.most >> word >> l.momentum)) {
    return false;
  }
  Peaks& p = record->peaks;
  in >> word >> p.contacts >> word >> p.body_pairs >> word >> p.substeps >> word >>
      p.outer_iterations >> word >> p.linear_iterations >> word >> p.asleep >> word >> p.flags >>
      word >> p.calls_that_allocate;
  while (in >> word) {
    Moment m;
    if (!(in >> m.step >> word >> std::hex >> m.hash >> word >> m.events >> std::dec >> word >>
          m.kinetic >> m.elastic >> m.gravity >> word >> m.deepest >> word >> m.contacts >> word >>
          m.body_pairs >> word >> m.asleep)) {
      return false;
    }
    for (size_t i = 0; i < kKeptNodes; ++i) {
      Vec3 x;
      if (!(in >> x.x >> x.y >> x.z)) return false;
      m.nodes.push_back(x);
    }
    record->moments.push_back(m);
  }
  return record->moments.size() == 3;
}

std::string Difference(const Record& before, const Record& now) {
  std::string text;
  for (size_t i = 0; i < std::min(before.moments.size(), now.moments.size()); ++i) {
    const Moment &a = before.moments[i], &b = now.moments[i];
    if (text.empty() && ToText(a) == ToText(b)) continue;
    text += Format(
        "  after %d steps: nodes off by %.2g of the size, energy %.6g -> %.6g J, deepest "
        "%.3g -> %.3g mm, asleep %u -> %u%s\n",
        b.step, DistanceOfNodes(a, b) / now.limits.size, a.kinetic + a.elastic + a.gravity,
        b.kinetic + b.elastic + b.gravity, 1.0e3 * a.deepest, 1.0e3 * b.deepest, a.asleep, b.asleep,
        a.hash == b.hash ? " (positions are the same)" : "");
  }
  if (ToText(before.peaks) != ToText(now.peaks)) {
    text += "  the most that a step had was\n" + ToText(before.peaks) + "and is now\n" +
            ToText(now.peaks);
  }
  return text;
}

}  // namespace plush::golden
