// SPDX-License-Identifier: MIT
// The 3D objects of a body: surface, cage, patches, pins. A body at rest and one in motion differ in
// where their nodes are.
import * as THREE from 'three';
import { grey, kindLinear, rampLinear } from './colours.js';
import { binOf } from './fields.js';
import { placePoints } from './model.js';

const dim = [0.12, 0.12, 0.13];
const faces = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
const edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

const dynamic = (size) => new THREE.BufferAttribute(new Float32Array(size), 3).setUsage(THREE.DynamicDrawUsage);

export class Body {
  constructor(model, planes) {
    this.model = model;
    this.nodes = model.nodes;
    this.group = new THREE.Group();
    this.planes = planes;
    this.makeSurface(planes);
    if (model.numTets) this.makeMarks();
  }

  // Cage and patches are made when they are first shown: the first picture does not wait for them.
  makeWanted(state) {
    if (!this.cage && this.model.numTets && (state.cage || state.edges)) this.makeCage();
    if (!this.patches && this.model.hasPatches && state.patches) {
      this.makePatches(this.planes);
      this.placed = null;
    }
  }

  makeSurface(planes) {
    const m = this.model, geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(m.positions.slice(), 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(m.base.slice(), 3));
    geometry.setIndex(new THREE.BufferAttribute(m.indices, 1));
    if (m.normals.length) {
      const normals = new Float32Array(m.positions.length);
      for (let v = 0; v < normals.length / 3; ++v) {
        for (let k = 0; k < 3; ++k) normals[3 * v + k] = m.normals[4 * v + k] / 127;
      }
      geometry.setAttribute('normal', new THREE.BufferAttribute(normals, 3));
    } else {
      geometry.computeVertexNormals();
    }
    const material = new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide, clippingPlanes: planes });
    this.surface = new THREE.Mesh(geometry, material);
    this.surface.frustumCulled = false;
    this.group.add(this.surface);
  }

  makeCage() {
    const n = this.model.numTets;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', dynamic(36 * n));
    geometry.setAttribute('color', dynamic(36 * n));
    this.cage = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ vertexColors: true, flatShading: true, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
    const lines = new THREE.BufferGeometry();
    lines.setAttribute('position', dynamic(36 * n));
    this.edges = new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: 0x33373d, transparent: true, opacity: 0.55 }));
    for (const object of [this.cage, this.edges]) {
      object.frustumCulled = false;
      this.group.add(object);
    }
  }

  makePatches(planes) {
    const m = this.model, geometry = new THREE.BufferGeometry();
    m.readPatches();
    const colours = new Float32Array(m.patchPositions.length);
    for (let v = 0; v < m.patchOf.length; ++v) colours.set(kindLinear((m.patchOf[v] * 5) % 8), 3 * v);
    geometry.setAttribute('position', new THREE.BufferAttribute(m.patchPositions.slice(), 3));
    geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
    geometry.setIndex(new THREE.BufferAttribute(m.patchIndices, 1));
    this.patches = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ vertexColors: true, flatShading: true, side: THREE.DoubleSide, clippingPlanes: planes }));
    this.patches.frustumCulled = false;
    this.group.add(this.patches);
  }

  // Pinned nodes, joints and centres of mass.
  makeMarks() {
    const m = this.model, r = m.size / 90;
    this.pins = new THREE.Group();
    this.pinned = [];
    const ball = new THREE.SphereGeometry(r, 12, 8);
    m.json.regions.forEach((region, i) => {
      const material = new THREE.MeshBasicMaterial({ color: new THREE.Color(...kindLinear(i)), depthTest: false });
      for (const node of region.nodes) {
        const mesh = new THREE.Mesh(ball, material);
        mesh.renderOrder = 2;
        this.pinned.push({ node, mesh });
        this.pins.add(mesh);
      }
    });
    this.joints = new THREE.Group();
    for (const { joint } of m.json.regions.filter((region) => region.joint)) {
      const axes = new THREE.AxesHelper(8 * r);
      axes.position.set(...joint.position);
      axes.quaternion.set(...joint.rotation);
      axes.material.depthTest = false;
      this.joints.add(axes);
    }
    this.centres = new THREE.Group();
    for (const part of m.json.components) {
      const mesh = new THREE.Mesh(new THREE.OctahedronGeometry(2.2 * r), new THREE.MeshBasicMaterial({ color: 0xd55e00, depthTest: false, wireframe: true }));
      mesh.position.set(...part.centre);
      mesh.renderOrder = 2;
      this.centres.add(mesh);
    }
    this.group.add(this.pins, this.joints, this.centres);
  }

  // Puts the body where the state says and colours it by `field` (null: by material), of which only
  // what is `lit` keeps its colours (null: all of it). `cut` is the rule of the cut, or null.
  update(state, nodes, field, lit, cut) {
    const m = this.model;
    const moves = nodes !== m.nodes;
    Object.assign(this, { nodes, field, lit });
    this.makeWanted(state);
    this.surface.visible = state.surface;
    if (m.numTets) {
      if (this.placed !== nodes) this.placeSurface(nodes, moves);
      this.placed = nodes;
      if (this.cage) this.cage.visible = state.cage;
      if (this.cage) this.edges.visible = state.edges;
      if (state.cage || state.edges) this.placeCage(state, nodes, cut);
      this.pins.visible = state.pins;
      for (const { node, mesh } of this.pinned) mesh.position.fromArray(nodes, 3 * node);
      this.joints.visible = state.pins && !moves;
      this.centres.visible = state.mass && !moves;
    }
    if (this.patches) this.patches.visible = state.patches;
    this.colourSurface();
  }

  placeSurface(nodes, moves) {
    const m = this.model, position = this.surface.geometry.attributes.position;
    if (moves) placePoints(position.array, m.weights, m.tetIds, m.tets, nodes);
    else position.array.set(m.positions);
    position.needsUpdate = true;
    if (moves) this.surface.geometry.computeVertexNormals();
    if (!this.patches) return;
    const patch = this.patches.geometry.attributes.position;
    placePoints(patch.array, m.patchWeights, m.patchTets, m.tets, nodes);
    patch.needsUpdate = true;
  }

  // How far the explosion moves a tet.
  shiftOf(tet, explode) {
    const m = this.model;
    return m.middleOf(tet, this.nodes).map((x, k) => (x - m.centre[k]) * explode);
  }

  rampOf(value) {
    return rampLinear((value - this.field.low) / (this.field.high - this.field.low || 1));
  }

  colourOf(tet) {
    if (this.lit && !this.lit.tets[tet]) return dim;
    if (!this.field) return grey;
    return this.field.kinds ? kindLinear(binOf(this.field, tet)) : this.rampOf(this.field.values[tet]);
  }

  placeCage(state, nodes, cut) {
    const m = this.model, position = this.cage.geometry.attributes.position;
    const colour = this.cage.geometry.attributes.color, line = this.edges.geometry.attributes.position;
    let at = 0, lineAt = 0;
    this.shownTets = [];
    for (let t = 0; t < m.numTets; ++t) {
      if (cut && !cut(m.middleOf(t, nodes))) continue;
      const shift = this.shiftOf(t, state.explode);
      const x = (n, k) => nodes[3 * m.tets[4 * t + n] + k] + shift[k];
      const rgb = this.colourOf(t);
      this.shownTets.push(t);
      for (const face of faces) {
        for (const n of face) {
          for (let k = 0; k < 3; ++k) { position.array[at + k] = x(n, k); colour.array[at + k] = rgb[k]; }
          at += 3;
        }
      }
      for (const edge of edges) {
        for (const n of edge) {
          for (let k = 0; k < 3; ++k) line.array[lineAt + k] = x(n, k);
          lineAt += 3;
        }
      }
    }
    for (const attribute of [position, colour, line]) attribute.needsUpdate = true;
    this.cage.geometry.setDrawRange(0, at / 3);
    this.edges.geometry.setDrawRange(0, lineAt / 3);
    this.cage.geometry.boundingSphere = this.cage.geometry.boundingBox = null;
  }

  colourSurface() {
    const m = this.model, colour = this.surface.geometry.attributes.color;
    const { field, lit } = this;
    colour.array.set(m.base);
    for (let v = 0; v < m.tetIds.length && (field || lit); ++v) {
      const isLit = !lit || (lit.vertices ? lit.vertices[v] : lit.tets[m.tetIds[v]]);
      if (!isLit) colour.array.set(dim, 3 * v);
      else if (field) colour.array.set(field.ofVertices ? this.rampOf(field.ofVertices[v]) : this.colourOf(m.tetIds[v]), 3 * v);
    }
    colour.needsUpdate = true;
  }

  dispose() {
    this.group.traverse((o) => { o.geometry?.dispose(); o.material?.dispose(); });
  }
}
