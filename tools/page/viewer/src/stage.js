// SPDX-License-Identifier: MIT
// The 3D view: one scene for the model shown, for each model compared, or for the run's bodies.
import * as THREE from 'three';
import { Body } from './body.js';
import { page } from './data.js';
import { Eye } from './eye.js';
import { fieldsOf } from './fields.js';
import { positionsOf } from './findings.js';
import { model } from './model.js';
import { makeFigure, makeRuler } from './scale.js';
import { boxOf, boxOfNodes, litOf, parse } from './selection.js';
import { state } from './state.js';

const opens = (i) => Boolean(page.models[i]?.arrays);
const orange = 0xd55e00;
const tetEdges = [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3];

export class Stage {
  // `changed` is called when the camera has moved, `rendered` with the labels [text, x, y].
  constructor(canvas, changed, rendered) {
    this.canvas = canvas;
    this.motion = null;
    this.rendered = rendered;
    this.views = [];
    this.queued = false;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.localClippingEnabled = true;
    this.renderer.autoClear = false;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.eye = new Eye(canvas, () => { this.draw(); changed(); });
  }

  get inMotion() { return state.show === 'motion' && this.motion !== null && !page.compare; }
  get bodies() { return this.views.flatMap((v) => v.bodies); }

  makeViews() {
    for (const body of this.bodies) body.dispose();
    const plane = new THREE.Plane();
    const listed = page.models.map((_, i) => i).filter((i) => opens(i) && page.models[i].listed);
    const one = opens(state.model) ? [[state.model]] : [];
    const groups = this.inMotion ? [this.motion.bodies.map((b) => b.model)] : page.compare ? listed.map((i) => [i]) : one;
    this.views = groups.map((group) => this.makeView(group, plane));
  }

  makeView(group, plane) {
    const scene = new THREE.Scene();
    const bodies = group.map((i) => new Body(model(i), [plane]));
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(0.6, 1, 0.8);
    const view = { scene, bodies, plane, extras: new THREE.Group(), marks: new THREE.Group() };
    this.measure(view);
    view.ruler = makeRuler(view.low, view.high);
    view.figure = makeFigure(view.low, view.high);
    scene.add(...bodies.map((b) => b.group), new THREE.HemisphereLight(0xffffff, 0x555560, 1.6), sun, view.extras, view.marks, view.ruler, view.figure);
    return view;
  }

  measure(view) {
    view.low = [Infinity, Infinity, Infinity];
    view.high = [-Infinity, -Infinity, -Infinity];
    const add = (points) => points.forEach((x, i) => {
      view.low[i % 3] = Math.min(view.low[i % 3], x);
      view.high[i % 3] = Math.max(view.high[i % 3], x);
    });
    if (this.inMotion) this.motion.bodies.forEach((b) => add(b.track()));
    else view.bodies.forEach((b) => { add(b.model.low); add(b.model.high); });
    view.size = Math.hypot(...view.high.map((h, k) => h - view.low[k])) || 1;
  }

  // Puts all bodies where the state says, in its colours, with what it selects.
  refresh() {
    const contacts = this.inMotion ? this.motion.contactsAt(state.frame) : [];
    const bodies = this.bodies;
    const nodes = bodies.map((b, i) => (this.inMotion ? this.motion.nodesAt(i, state.frame) : b.model.nodes));
    const fields = fieldsOf(state.colour, bodies.map((b, i) => ({ model: b.model, nodes: nodes[i], contacts })));
    let number = 0;
    for (const view of this.views) {
      const cut = this.cutOf(view);
      if (cut) view.plane.set(new THREE.Vector3(...[0, 1, 2].map((k) => (k === cut.axis ? -1 : 0))), cut.limit);
      else view.plane.set(new THREE.Vector3(0, -1, 0), 1e9);
      for (const body of view.bodies) {
        body.field = fields[number];
        body.update(state, nodes[number], fields[number], litOf(body, number, state), cut?.keeps);
        number += 1;
      }
      view.ruler.visible = state.ruler;
      view.figure.visible = state.figure;
      this.placeExtras(view);
    }
    this.placeMarks();
    this.draw();
  }

  // The rule of the cut: which places stay.
  cutOf(view) {
    const axis = 'xyz'.indexOf(state.cut);
    if (axis < 0) return null;
    const limit = view.low[axis] + state.at * (view.high[axis] - view.low[axis]);
    return { axis, limit, keeps: (p) => p[axis] <= limit };
  }

  placeExtras(view) {
    view.extras.traverse((o) => { o.geometry?.dispose(); o.material?.dispose(); });
    view.extras.clear();
    if (!this.inMotion) return;
    const lines = new THREE.BufferGeometry();
    lines.setAttribute('position', new THREE.BufferAttribute(this.motion.linesAt(state.frame), 3));
    view.extras.add(new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: 0x777b82 })));
    if (!state.contacts) return;
    const points = new THREE.BufferGeometry();
    points.setAttribute('position', new THREE.BufferAttribute(this.motion.contactsAt(state.frame).slice(), 3));
    view.extras.add(new THREE.Points(points, new THREE.PointsMaterial({ color: orange, size: 6, sizeAttenuation: false, depthTest: false })));
  }

  // Balls at the places of the chosen finding, and the edges of the chosen tet.
  placeMarks() {
    const chosen = parse(state.select), positions = positionsOf(state.finding);
    const material = { color: orange, depthTest: false, transparent: true };
    for (const view of this.views) {
      view.marks.traverse((o) => { o.geometry?.dispose(); o.material?.dispose(); });
      view.marks.clear();
      const ball = new THREE.SphereGeometry(view.size / 60, 16, 12);
      for (const position of positions) {
        const mark = new THREE.Mesh(ball, new THREE.MeshBasicMaterial({ ...material, wireframe: true }));
        mark.position.set(...position);
        mark.renderOrder = 3;
        view.marks.add(mark);
      }
    }
    const body = this.bodies[chosen?.body];
    if (chosen?.kind !== 'tet' || chosen.index >= (body?.model.numTets ?? 0)) return;
    const tet = body.model.tets.subarray(4 * chosen.index, 4 * chosen.index + 4), shift = body.shiftOf(chosen.index, state.explode);
    const ends = tetEdges.flatMap((n) => shift.map((s, k) => body.nodes[3 * tet[n] + k] + s));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(ends, 3));
    const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial(material));
    const corners = new THREE.Points(geometry, new THREE.PointsMaterial({ ...material, size: 9, sizeAttenuation: false }));
    lines.renderOrder = corners.renderOrder = 3;
    this.views.find((v) => v.bodies.includes(body)).marks.add(lines, corners);
  }

  // The box of what is selected: places of a finding, else the selection; null if nothing is.
  selectedBox() {
    const positions = positionsOf(state.finding);
    if (!positions.length) return boxOf(this.bodies, state);
    const of = (better) => [0, 1, 2].map((k) => better(...positions.map((p) => p[k])));
    return { low: of(Math.min), high: of(Math.max) };
  }

  // Frames what is selected, or everything, from `direction` or from where the camera is.
  frame(direction, width, height) {
    const view = this.views[0];
    if (!view) return;
    this.layout(width, height);
    const size = Math.max(...this.views.map((v) => v.size));
    const middle = (box) => box.low.map((l, k) => (l + box.high[k]) / 2);
    const chosen = this.selectedBox();
    this.eye.reach(Math.max(size, state.figure ? 2.3 : 0));
    if (chosen) {
      const radius = Math.hypot(...chosen.high.map((h, k) => h - chosen.low[k])) / 2;
      this.eye.look(middle(chosen), Math.max(1.25 * radius, size / 8), direction);
    } else if (state.figure) {
      const y = view.low[1] + Math.max(0.85, (view.high[1] - view.low[1]) / 2);
      this.eye.look([view.high[0] + 0.2, y, middle(view)[2]], Math.max(size, 2.3) / 2, direction);
    } else if (this.inMotion) {
      // The bodies where they are now, with their surroundings: they may come far.
      const now = boxOfNodes(this.bodies);
      this.eye.look(middle(now), 0.65 * Math.hypot(...now.high.map((h, k) => h - now.low[k])), direction);
    } else {
      this.eye.look(middle(view), 0.42 * size * (1 + state.explode), direction);
    }
  }

  // Where each view lies [pixels]; sets the camera's aspect.
  layout(width = this.canvas.clientWidth, height = this.canvas.clientHeight) {
    const number = Math.max(1, this.views.length);
    const side = (c) => Math.min(width / c, height / Math.ceil(number / c));  // of a square in each view
    let columns = 1;
    for (let c = 2; c <= number; ++c) if (side(c) > side(columns)) columns = c;
    const rows = Math.ceil(number / columns);
    const w = width / columns, h = height / rows;
    this.eye.camera.aspect = w / h;
    this.eye.camera.updateProjectionMatrix();
    return this.views.map((view, i) => ({ view, x: (i % columns) * w, y: Math.floor(i / columns) * h, w, h }));
  }

  draw() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => this.render());
  }

  render(width = this.canvas.clientWidth, height = this.canvas.clientHeight) {
    this.queued = false;
    const { renderer, eye } = this;
    renderer.setSize(width, height, false);
    renderer.setClearColor(getComputedStyle(document.documentElement).getPropertyValue('--view').trim());
    renderer.setScissorTest(false);
    renderer.clear();
    renderer.setScissorTest(true);
    const labels = [];
    for (const { view, x, y, w, h } of this.layout(width, height)) {
      renderer.setViewport(x, height - y - h, w, h);
      renderer.setScissor(x, height - y - h, w, h);
      renderer.render(view.scene, eye.camera);
      const at = (p) => { const v = new THREE.Vector3(...p).project(eye.camera); return [x + (v.x + 1) / 2 * w, y + (1 - v.y) / 2 * h]; };
      if (this.views.length > 1) labels.push([view.bodies[0].model.name, x + 6, y + 6]);
      if (state.ruler) labels.push([view.ruler.userData.text, ...at(view.ruler.userData.end)]);
      if (state.figure) labels.push(['1.7 m', ...at([view.figure.position.x, view.figure.position.y + 1.8, view.figure.position.z])]);
    }
    this.rendered(labels);
  }

  // The tet under a place of the canvas [pixels], as {body, tet}; null if there is none.
  pick(x, y) {
    const cell = this.layout().find((c) => x >= c.x && x < c.x + c.w && y >= c.y && y < c.y + c.h);
    if (!cell) return null;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * (x - cell.x) / cell.w - 1, 1 - 2 * (y - cell.y) / cell.h), this.eye.camera);
    const hits = cell.view.bodies.flatMap((body) => {
      const objects = [body.cage, body.surface].filter((o) => o?.visible && body.model.numTets);
      for (const o of objects) o.geometry.boundingSphere = o.geometry.boundingBox = null;
      return ray.intersectObjects(objects, false).map((hit) => ({ hit, body }));
    }).sort((a, b) => a.hit.distance - b.hit.distance);
    if (!hits.length) return null;
    const { hit, body } = hits[0];
    const tet = hit.object === body.cage ? body.shownTets[Math.floor(hit.faceIndex / 4)] : body.model.tetIds[hit.face.a];
    return { body: this.bodies.indexOf(body), tet };
  }
}
