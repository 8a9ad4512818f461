// SPDX-License-Identifier: MIT
// What is selected: a tet, a connected part, a named part, a material, a region, or a bar of the
// histogram. What is not selected is dimmed; the camera frames what is.
import { binOf } from './fields.js';

// "KIND.BODY.INDEX" as an object; null if nothing is selected.
export function parse(text) {
  const found = /^(tet|part|name|material|region)\.(\d+)\.(\d+)$/.exec(text);
  return found && { kind: found[1], body: Number(found[2]), index: Number(found[3]) };
}

function regionTets(model, index) {
  const held = new Set(model.json.regions[index]?.nodes);
  return Uint8Array.from({ length: model.numTets }, (_, t) => model.tets.subarray(4 * t, 4 * t + 4).some((n) => held.has(n)));
}

// Vertices of a named part of the render surface.
function nameVertices(model, index) {
  const vertices = new Uint8Array(model.positions.length / 3), part = model.json.parts[index];
  for (let i = part?.first ?? 0; i < (part?.first ?? 0) + (part?.count ?? 0); ++i) vertices[model.indices[i]] = 1;
  return vertices;
}

// Which tets and vertices of the body `number` are lit: {tets, vertices}, null for all of them. The
// vertices of a null array are lit with their tets.
export function litOf(body, number, state) {
  const { model, field } = body, chosen = parse(state.select);
  if (chosen) {
    if (chosen.kind === 'tet') return null;  // marked, and the others stay as they are
    const tets = new Uint8Array(model.numTets), vertices = new Uint8Array(model.positions.length / 3);
    if (chosen.body !== number) return { tets, vertices };
    if (chosen.kind === 'name') {
      const lit = nameVertices(model, chosen.index);
      lit.forEach((on, v) => { if (on) tets[model.tetIds[v]] = 1; });
      return { tets, vertices: lit };
    }
    if (chosen.kind === 'region') return { tets: regionTets(model, chosen.index), vertices: null };
    const kinds = chosen.kind === 'part' ? model.component : model.material;
    return { tets: Uint8Array.from(kinds, (kind) => kind === chosen.index), vertices: null };
  }
  if (state.bin < 0 || !field) return null;
  return { tets: Uint8Array.from({ length: model.numTets }, (_, t) => binOf(field, t) === state.bin), vertices: null };
}

// The box around the nodes of bodies, or around the vertices of static meshes.
export function boxOfNodes(bodies) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const { model, nodes } of bodies) {
    (nodes.length ? nodes : model.positions).forEach((x, i) => {
      low[i % 3] = Math.min(low[i % 3], x);
      high[i % 3] = Math.max(high[i % 3], x);
    });
  }
  return { low, high };
}

// Corners of the box around what is selected, or null: bodies at `nodes`, moved by the explosion.
export function boxOf(bodies, state) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const chosen = parse(state.select);
  const add = (array, at, shift) => {
    for (let k = 0; k < 3; ++k) {
      low[k] = Math.min(low[k], array[at + k] + shift[k]);
      high[k] = Math.max(high[k], array[at + k] + shift[k]);
    }
  };
  bodies.forEach((body, number) => {
    const { model, lit, nodes } = body;
    const addTet = (t) => {
      const shift = body.shiftOf(t, state.explode);
      for (const n of model.tets.subarray(4 * t, 4 * t + 4)) add(nodes, 3 * n, shift);
    };
    if (chosen?.kind === 'tet') {
      if (chosen.body === number && chosen.index < model.numTets) addTet(chosen.index);
    } else if (lit?.vertices) {
      const { array } = body.surface.geometry.attributes.position;
      lit.vertices.forEach((on, v) => { if (on) add(array, 3 * v, [0, 0, 0]); });
    } else if (lit) {
      lit.tets.forEach((on, t) => { if (on) addTet(t); });
    }
  });
  return low[0] <= high[0] ? { low, high } : null;
}
