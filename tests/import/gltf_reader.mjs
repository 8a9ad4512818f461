// SPDX-License-Identifier: MIT
// A second reader of glTF: prints what each file's default scene shows, one line of JSON per file: triangles, box, area,
// materials, joints and attributes; with --vertices also the vertices, as x y z and nx ny nz.
//
// usage: node gltf_reader.mjs [--vertices] FILE...     (in a folder with the packages of package.json)
import {NodeIO} from '@gltf-transform/core';
import {ALL_EXTENSIONS} from '@gltf-transform/extensions';
import draco3d from 'draco3dgltf';
import {MeshoptDecoder} from 'meshoptimizer';

const io = new NodeIO().registerExtensions(ALL_EXTENSIONS).registerDependencies({
  'draco3d.decoder': await draco3d.createDecoderModule(), 'meshopt.decoder': MeshoptDecoder});

// Matrices are arrays of 16 numbers by columns.
const times = (a, b) => Array.from({length: 16}, (_, i) =>
  [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + i % 4] * b[4 * (i >> 2) + k], 0));
const point = (m, [x, y, z]) => [0, 1, 2].map(i => m[i] * x + m[4 + i] * y + m[8 + i] * z + m[12 + i]);
const minus = (a, b) => a.map((x, i) => x - b[i]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// Normals turn with the cofactors of the linear part, which are its inverse transpose times its determinant.
function normal(m, n) {
  const [a, b, c] = [m.slice(0, 3), m.slice(4, 7), m.slice(8, 11)];
  const [ca, cb, cc] = [cross(b, c), cross(c, a), cross(a, b)];
  const sign = Math.sign(dot(a, ca));
  return [0, 1, 2].map(i => sign * (ca[i] * n[0] + cb[i] * n[1] + cc[i] * n[2]));
}

function fromTrs([x, y, z, w], [sx, sy, sz], t) {
  return [(1 - 2 * (y * y + z * z)) * sx, 2 * (x * y + z * w) * sx, 2 * (x * z - y * w) * sx, 0,
    2 * (x * y - z * w) * sy, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z + x * w) * sy, 0,
    2 * (x * z + y * w) * sz, 2 * (y * z - x * w) * sz, (1 - 2 * (x * x + y * y)) * sz, 0, ...t, 1];
}

// Where a node shows its mesh: once, or once per instance. A skin in bind pose places it by any joint; taken is the
// highest one.
function placements(node) {
  const skin = node.getSkin();
  if (skin) {
    const depth = joint => { let n = 0; for (let p = joint; p; p = p.getParentNode()) ++n; return n; };
    const joints = skin.listJoints(), depths = joints.map(depth), at = depths.indexOf(Math.min(...depths));
    const bind = skin.getInverseBindMatrices();
    const matrix = joints[at].getWorldMatrix();
    return [bind ? times(matrix, bind.getElement(at, [])) : matrix];
  }
  const batch = node.getExtension('EXT_mesh_gpu_instancing');
  if (!batch) return [node.getWorldMatrix()];
  const of = (name, i, other) => batch.getAttribute(name)?.getElement(i, []) ?? other;
  return Array.from({length: batch.listAttributes()[0].getCount()}, (_, i) => times(node.getWorldMatrix(),
    fromTrs(of('ROTATION', i, [0, 0, 0, 1]), of('SCALE', i, [1, 1, 1]), of('TRANSLATION', i, [0, 0, 0]))));
}

function trianglesOf(primitive) {
  const indices = primitive.getIndices();
  const at = i => indices ? indices.getScalar(i) : i;
  const count = (indices ?? primitive.getAttribute('POSITION')).getCount();
  const n = {4: Math.floor(count / 3), 5: count - 2, 6: count - 2}[primitive.getMode()] ?? 0;
  return Array.from({length: Math.max(n, 0)}, (_, i) => ({4: [3 * i, 3 * i + 1, 3 * i + 2],
    5: [i, i + 1 + i % 2, i + 2 - i % 2], 6: [0, i + 1, i + 2]}[primitive.getMode()].map(at)));
}

// The values of an attribute with the morph targets added, by vertex.
function morphed(primitive, name, weights) {
  const accessor = primitive.getAttribute(name);
  return accessor && Array.from({length: accessor.getCount()}, (_, i) => primitive.listTargets().reduce((sum, target, k) => {
    const delta = target.getAttribute(name)?.getElement(i, []);
    return delta && weights[k] ? sum.map((x, c) => x + weights[k] * delta[c]) : sum;
  }, accessor.getElement(i, []).slice(0, 3)));
}

function read(document, withVertices) {
  const root = document.getRoot();
  const facts = {triangles: 0, area: 0, materials: new Set(), attributes: new Set(), joints: new Set(), vertices: []};
  const low = [Infinity, Infinity, Infinity], high = low.map(x => -x);
  const scene = root.getDefaultScene() ?? root.listScenes()[0];
  scene?.traverse(node => {
    const mesh = node.getMesh();
    node.getSkin()?.listJoints().forEach(joint => facts.joints.add(joint));
    for (const primitive of mesh?.listPrimitives() ?? []) {
      const triangles = trianglesOf(primitive);
      if (!triangles.length) continue;
      const weights = node.getWeights().length ? node.getWeights() : mesh.getWeights();
      const positions = morphed(primitive, 'POSITION', weights);
      const normals = morphed(primitive, 'NORMAL', weights);
      if (!normals) facts.lacksNormals = true;
      facts.materials.add(primitive.getMaterial()?.getName() ?? null);
      primitive.listSemantics().forEach(name => facts.attributes.add(name));
      for (const m of placements(node)) {
        const moved = positions.map(p => point(m, p));
        for (const [a, b, c] of triangles) {
          ++facts.triangles;
          const n = cross(minus(moved[b], moved[a]), minus(moved[c], moved[a]));
          facts.area += Math.hypot(...n) / 2;
          for (const v of [a, b, c]) {
            moved[v].forEach((x, k) => { low[k] = Math.min(low[k], x); high[k] = Math.max(high[k], x); });
          }
        }
        if (withVertices) {
          for (const v of new Set(triangles.flat())) {
            facts.vertices.push([...moved[v], ...normals ? normal(m, normals[v]) : [0, 0, 0]]);
          }
        }
      }
    }
  });
  return {...facts, box: [low, high], area: [facts.area, facts.area], joints: facts.joints.size,
    materials: [...facts.materials].sort(), attributes: [...facts.attributes].sort()};
}

for (const file of process.argv.slice(2).filter(a => a !== '--vertices')) {
  let line;
  try {
    line = read(await io.read(file), process.argv.includes('--vertices'));
    if (!line.triangles) line = {refused: 'no triangles'};
  } catch (error) {
    line = {refused: String(error.message).split('\n')[0]};
  }
  console.log(JSON.stringify({file, ...line}));
}
