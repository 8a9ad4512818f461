// SPDX-License-Identifier: MIT
// A model of the page: its arrays, decoded once, and where its vertices lie in the tets.
import { page, read, readPositions } from './data.js';

// Weights of each point in its tet (4 num_points x 1).
function weightsOf(points, tetOf, model) {
  const weights = new Float32Array(points.length / 3 * 4);
  const x = (n, k) => model.nodes[3 * n + k];
  for (let v = 0; v < tetOf.length; ++v) {
    const [a, b, c, d] = model.tets.subarray(4 * tetOf[v], 4 * tetOf[v] + 4);
    const e = [b, c, d].map((n) => [0, 1, 2].map((k) => x(n, k) - x(a, k)));
    const p = [0, 1, 2].map((k) => points[3 * v + k] - x(a, k));
    const det = (u, s, t) => u[0] * (s[1] * t[2] - s[2] * t[1]) - u[1] * (s[0] * t[2] - s[2] * t[0]) + u[2] * (s[0] * t[1] - s[1] * t[0]);
    const volume = det(e[0], e[1], e[2]) || 1;
    const w = [det(p, e[1], e[2]) / volume, det(e[0], p, e[2]) / volume, det(e[0], e[1], p) / volume];
    weights.set([1 - w[0] - w[1] - w[2], ...w], 4 * v);
  }
  return weights;
}

const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

class Model {
  constructor(index) {
    const json = page.models[index];
    const arrays = json.arrays;
    Object.assign(this, { index, json, isStatic: json.static, name: json.name });
    const get = (name, Type) => (arrays[name] ? read(index, arrays[name], Type) : new Type(0));
    this.positions = readPositions(index, arrays.positions);
    this.indices = get('indices', Uint32Array);
    this.normals = get('normals', Int8Array);
    this.nodes = get('nodes', Float32Array);
    this.tets = get('tets', Uint32Array);
    this.numTets = this.tets.length / 4;
    this.tetIds = get('tet_ids', Uint32Array);
    this.quality = get('quality', Float32Array);
    this.dihedral = get('dihedral', Float32Array);
    this.volume = get('volume', Float32Array);
    this.distance = get('distance', Float32Array);
    this.material = get('tet_material', Uint32Array);
    this.component = get('tet_component', Uint32Array);
    this.pieces = get('pieces', Uint32Array);
    this.weights = this.numTets ? weightsOf(this.positions, this.tetIds, this) : null;
    this.hasPatches = Boolean(arrays.patch_positions);
    this.measureBox();
    this.baseColours();
  }

  readPatches() {
    if (this.patchPositions) return;
    const { arrays } = this.json;
    this.patchPositions = readPositions(this.index, arrays.patch_positions);
    this.patchIndices = read(this.index, arrays.patch_indices, Uint32Array);
    const starts = read(this.index, arrays.patch_starts, Uint32Array);
    const numVertices = this.patchPositions.length / 3;
    const tetOf = new Uint32Array(numVertices);
    this.patchOf = new Uint32Array(numVertices);
    for (let p = 0; p < starts.length / 4; ++p) {
      const end = 4 * p + 5 < starts.length ? starts[4 * p + 5] : numVertices;
      tetOf.fill(starts[4 * p + 2], starts[4 * p + 1], end);
      this.patchOf.fill(p, starts[4 * p + 1], end);
    }
    this.patchTets = tetOf;
    this.patchWeights = weightsOf(this.patchPositions, tetOf, this);
  }

  measureBox() {
    const points = this.positions.length ? this.positions : this.nodes;
    this.low = [0, 1, 2].map((k) => least(points.filter((_, i) => i % 3 === k)));
    this.high = [0, 1, 2].map((k) => greatest(points.filter((_, i) => i % 3 === k)));
    this.centre = this.low.map((l, k) => (l + this.high[k]) / 2);
    this.size = Math.hypot(...this.high.map((h, k) => h - this.low[k])) || 1;
  }

  // The colour of each render vertex's material (3 num_vertices x 1), linear.
  baseColours() {
    this.base = new Float32Array(this.positions.length).fill(0.4);
    for (const part of this.json.parts) {
      const colour = this.json.materials[part.material].linear_rgb;
      for (let i = part.first; i < part.first + part.count; ++i) this.base.set(colour, 3 * this.indices[i]);
    }
  }

  middleOf(tet, nodes = this.nodes) {
    const middle = [0, 0, 0];
    for (const n of this.tets.subarray(4 * tet, 4 * tet + 4)) {
      for (let k = 0; k < 3; ++k) middle[k] += nodes[3 * n + k] / 4;
    }
    return middle;
  }
}

const models = new Map();
export function model(index) {
  if (!models.has(index)) models.set(index, new Model(index));
  return models.get(index);
}

// Places of points given by weights in tets, for cage nodes at `nodes`.
export function placePoints(target, weights, tetOf, tets, nodes) {
  for (let v = 0; v < tetOf.length; ++v) {
    const t = 4 * tetOf[v];
    let x = 0, y = 0, z = 0;
    for (let k = 0; k < 4; ++k) {
      const n = 3 * tets[t + k], w = weights[4 * v + k];
      x += w * nodes[n]; y += w * nodes[n + 1]; z += w * nodes[n + 2];
    }
    target[3 * v] = x; target[3 * v + 1] = y; target[3 * v + 2] = z;
  }
}
