// SPDX-License-Identifier: MIT
// What the tets can be coloured by. A field has values per tet: numbers with a unit, or kinds.

// The tet's largest principal stretch minus 1: power iterations for F^T F.
function strainOf(model, nodes) {
  const strain = new Float32Array(model.numTets);
  const edges = (x, t) => {
    const [a, b, c, d] = model.tets.subarray(4 * t, 4 * t + 4);
    return [b, c, d].map((n) => [0, 1, 2].map((k) => x[3 * n + k] - x[3 * a + k]));
  };
  const cross = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const dot = (u, v) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  for (let t = 0; t < model.numTets; ++t) {
    const D = edges(model.nodes, t), d = edges(nodes, t);
    const dual = [cross(D[1], D[2]), cross(D[2], D[0]), cross(D[0], D[1])];
    const volume = dot(D[0], dual[0]) || 1;
    // Columns of F: sum of d_i dual_i^T over the volume.
    const F = [0, 1, 2].map((r) => [0, 1, 2].map((c) => (d[0][r] * dual[0][c] + d[1][r] * dual[1][c] + d[2][r] * dual[2][c]) / volume));
    let v = [0.62, 0.55, 0.56], stretch = 1;
    for (let i = 0; i < 12; ++i) {
      const w = F.map((row) => dot(row, v));
      const u = [0, 1, 2].map((c) => F[0][c] * w[0] + F[1][c] * w[1] + F[2][c] * w[2]);
      const length = Math.hypot(...u) || 1;
      stretch = Math.sqrt(length);
      v = u.map((x) => x / length);
    }
    strain[t] = stretch - 1;
  }
  return strain;
}

function regionKinds(model) {
  const kinds = new Uint32Array(model.numTets);
  model.json.regions.forEach((region, i) => {
    const held = new Set(region.nodes);
    for (let t = 0; t < model.numTets; ++t) {
      if (model.tets.subarray(4 * t, 4 * t + 4).some((n) => held.has(n))) kinds[t] = i + 1;
    }
  });
  return { kinds, names: ['no region', ...model.json.regions.map((r) => r.name)] };
}

function distances(model) {
  return Float32Array.from({ length: model.numTets }, (_, t) =>
    Math.max(...model.tets.subarray(4 * t, 4 * t + 4).map((n) => model.distance[n] * 1e6)) / 1e3);
}

const minus = (u, v) => [u[0] - v[0], u[1] - v[1], u[2] - v[2]];
const det = (u, v, w) => u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]);

// Tets that hold a contact point, or almost do: the point is of the step, the nodes are where it ends.
function contactKinds(model, nodes, contacts) {
  const kinds = new Uint32Array(model.numTets), slack = -0.15;
  for (let t = 0; t < model.numTets; ++t) {
    const [a, b, c, d] = Array.from(model.tets.subarray(4 * t, 4 * t + 4), (n) => Array.from(nodes.subarray(3 * n, 3 * n + 3)));
    const [e, f, g] = [minus(b, a), minus(c, a), minus(d, a)], volume = det(e, f, g);
    for (let i = 0; i < contacts.length && !kinds[t]; i += 3) {
      const p = minus([contacts[i], contacts[i + 1], contacts[i + 2]], a);
      const w = [det(p, f, g) / volume, det(e, p, g) / volume, det(e, f, p) / volume];
      if (Math.min(...w, 1 - w[0] - w[1] - w[2]) >= slack) kinds[t] = 1;
    }
  }
  return { kinds, names: ['free', 'in contact'] };
}

const number = (values, unit, low, high) => ({ values, unit, low, high });

// How much of a place hangs on pinned nodes: the share of a tet's nodes, of a vertex by its weights.
function pinWeights(model) {
  const held = new Uint8Array(model.nodes.length / 3);
  for (const region of model.json.regions) for (const n of region.nodes) held[n] = 1;
  const sum = (tet, weight) => model.tets.subarray(4 * tet, 4 * tet + 4).reduce((s, n, k) => s + held[n] * weight(k), 0);
  const values = Float32Array.from({ length: model.numTets }, (_, t) => sum(t, () => 0.25));
  const ofVertices = Float32Array.from(model.tetIds, (t, v) => sum(t, (k) => model.weights[4 * v + k]));
  return { ...number(values, '1 = moves with the pins', 0, 1), ofVertices };
}

export const fields = {
  base: { title: 'base colour' },
  quality: { title: 'tet quality', make: (m) => number(m.quality, '1 = regular tet', 0, 1) },
  dihedral: { title: 'smallest dihedral angle', make: (m) => number(m.dihedral, 'degrees', 0, 60) },
  volume: { title: 'volume', make: (m) => number(m.volume.map((v) => v * 1e6), 'cm\u00b3') },
  distance: { title: 'distance cage to surface', make: (m) => number(distances(m), 'mm') },
  material: { title: 'material', make: (m) => ({ kinds: m.material, names: (m.json.info.simulation?.materials ?? []).map((x) => x.name || 'unnamed') }) },
  part: { title: 'connected part', make: (m) => ({ kinds: m.component, names: m.json.components.map((_, i) => `part ${i + 1}`) }) },
  region: { title: 'pin region', make: regionKinds },
  pinned: { title: 'pin weight', surface: true, make: pinWeights },
  glued: { title: 'pieces of surface in a tet', make: (m) => ({ kinds: m.pieces.map((p) => Math.min(p, 2)), names: ['none', 'one', 'several: glued'] }) },
  patch: { title: 'collision patch' },
  strain: { title: 'strain (largest stretch)', motion: true, make: (m, nodes) => number(strainOf(m, nodes).map((s) => 100 * s), '%', 0, 25) },
  contact: { title: 'contact', motion: true, make: (m, nodes, contacts) => contactKinds(m, nodes, contacts) },
};

const cache = new WeakMap();

// The field of a body, or null if its colours are not by tet.
function fieldOf(name, model, nodes, contacts) {
  const field = fields[name];
  if (!field.make || !model.numTets) return null;
  const made = cache.get(model) ?? {};
  cache.set(model, made);
  return field.motion ? field.make(model, nodes, contacts) : (made[name] ??= field.make(model));
}

// The fields of several bodies, each {model, nodes, contacts}: one range of numbers and one list of
// kinds, so that a colour means the same in all.
export function fieldsOf(name, bodies) {
  const made = bodies.map((b) => fieldOf(name, b.model, b.nodes, b.contacts));
  const of = made.filter((f) => f);
  if (of.some((f) => f.kinds)) {
    const names = [...new Set(of.flatMap((f) => f.names))];
    return made.map((f) => f && { ...f, names, kinds: f.kinds.map((k) => names.indexOf(f.names[k])) });
  }
  const reach = (key, better, from) => of.map((f) => f[key] ?? f.values.reduce((a, b) => better(a, b), from)).reduce((a, b) => better(a, b), from);
  const low = reach('low', Math.min, Infinity), high = reach('high', Math.max, -Infinity);
  return made.map((f) => f && { ...f, low, high });
}

export const numBins = 24;
export function binOf(field, tet) {
  if (field.kinds) return field.kinds[tet];
  const share = (field.values[tet] - field.low) / (field.high - field.low || 1);
  return Math.min(numBins - 1, Math.max(0, Math.floor(share * numBins)));
}
