// SPDX-License-Identifier: MIT
// The viewer of `plush report`: builds the controls, keeps state and picture in step.
import * as THREE from 'three';
import { Body } from './body.js';
import { page, read, ready } from './data.js';
import { fields } from './fields.js';
import { Eye } from './eye.js';
import { model } from './model.js';
import { Motion } from './motion.js';
import { make, rounded, showIndex, showLegend, showPanels } from './panels.js';
import { makePlots } from './plots.js';
import { makeFigure, makeRuler } from './scale.js';
import { readFragment, state, writeFragment } from './state.js';

const $ = (id) => document.getElementById(id);
const canvas = $('canvas');
const inputs = {};  // by name of the state that each shows
let renderer, eye, motion, plots, views = [], queued = false, playing = 0;

const jsonOf = () => page.models[state.model];
const opens = (i) => Boolean(page.models[i]?.arrays);
const inMotion = () => state.show === 'motion' && motion && !page.compare;

// One view of a model, of all models compared, or of the run's bodies.
function makeViews() {
  for (const view of views) for (const body of view.bodies) body.dispose();
  const plane = new THREE.Plane();
  const indices = page.models.map((_, i) => i).filter((i) => opens(i) && page.models[i].listed);
  const groups = inMotion() ? [motion.bodies.map((b) => b.model)] : page.compare ? indices.map((i) => [i]) : opens(state.model) ? [[state.model]] : [];
  views = groups.map((group) => {
    const scene = new THREE.Scene();
    const bodies = group.map((i) => new Body(model(i), [plane]));
    scene.add(...bodies.map((b) => b.group), new THREE.HemisphereLight(0xffffff, 0x555560, 1.6));
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(0.6, 1, 0.8);
    scene.add(sun);
    const view = { scene, bodies, plane, extras: new THREE.Group() };
    scene.add(view.extras);
    measure(view);
    view.ruler = makeRuler(view.low, view.high);
    view.figure = makeFigure(view.low, view.high);
    view.marker = new THREE.Mesh(new THREE.SphereGeometry(view.size / 45, 16, 12), new THREE.MeshBasicMaterial({ color: 0xd55e00, wireframe: true, depthTest: false }));
    view.marker.visible = false;
    scene.add(view.ruler, view.figure, view.marker);
    return view;
  });
}

function measure(view) {
  view.low = [Infinity, Infinity, Infinity];
  view.high = [-Infinity, -Infinity, -Infinity];
  const add = (points) => points.forEach((x, i) => {
    view.low[i % 3] = Math.min(view.low[i % 3], x);
    view.high[i % 3] = Math.max(view.high[i % 3], x);
  });
  if (inMotion()) motion.bodies.forEach((b) => add(b.track));
  else view.bodies.forEach((b) => { add(b.model.low); add(b.model.high); });
  view.centre = view.low.map((l, k) => (l + view.high[k]) / 2);
  view.size = Math.hypot(...view.high.map((h, k) => h - view.low[k])) || 1;
}

function frameView(direction) {
  const view = views[0];
  if (!view) return;
  const { centre: middle } = view;
  let centre = middle, size = Math.max(...views.map((v) => v.size));
  if (state.figure) {
    size = Math.max(size, 2.3);
    centre = [view.high[0] + 0.2, view.low[1] + Math.max(0.85, (view.high[1] - view.low[1]) / 2), centre[2]];
  }
  eye.reach(Math.max(size, view.size));
  eye.look(centre, size / 2, direction);
}

// The rule of the cut: which places stay.
function cutOf(view) {
  const axis = 'xyz'.indexOf(state.cut);
  if (axis < 0) return null;
  const limit = view.low[axis] + state.at * (view.high[axis] - view.low[axis]);
  return { axis, limit, keeps: (p) => p[axis] <= limit };
}

function placeExtras(view) {
  view.extras.clear();
  if (!inMotion()) return;
  const lines = new THREE.BufferGeometry();
  lines.setAttribute('position', new THREE.BufferAttribute(motion.linesAt(state.frame), 3));
  view.extras.add(new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: 0x777b82 })));
  if (!state.contacts) return;
  const points = new THREE.BufferGeometry();
  points.setAttribute('position', new THREE.BufferAttribute(motion.contactsAt(state.frame).slice(), 3));
  view.extras.add(new THREE.Points(points, new THREE.PointsMaterial({ color: 0xd55e00, size: 6, sizeAttenuation: false, depthTest: false })));
}

function refresh() {
  if (motion) state.frame = Math.min(Math.max(0, Math.round(state.frame)), motion.numFrames - 1);
  const contacts = inMotion() ? motion.contactsAt(state.frame) : [];
  for (const view of views) {
    const cut = cutOf(view);
    if (cut) view.plane.set(new THREE.Vector3(...[0, 1, 2].map((k) => (k === cut.axis ? -1 : 0))), cut.limit);
    else view.plane.set(new THREE.Vector3(0, -1, 0), 1e9);
    view.bodies.forEach((body, i) => body.update(state, inMotion() ? motion.nodesAt(i, state.frame) : body.model.nodes, contacts, cut?.keeps));
    view.ruler.visible = state.ruler;
    view.figure.visible = state.figure;
    placeExtras(view);
  }
  showLegend($('legend'), views[0]?.bodies[0]);
  if (plots) plots.draw(motion.json.steps[state.frame], state.budget);
  for (const [name, show] of Object.entries(inputs)) show(state[name]);
  writeFragment();
  draw();
}

function draw() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(render);
}

function render() {
  queued = false;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  renderer.setSize(width, height, false);
  renderer.setClearColor(getComputedStyle(document.documentElement).getPropertyValue('--view').trim());
  renderer.setScissorTest(false);
  renderer.clear();
  renderer.setScissorTest(true);
  const across = Math.ceil(Math.sqrt(views.length * Math.max(1, width / height) / 1.4)) || 1, columns = Math.min(views.length, across);
  const rows = Math.ceil(views.length / columns) || 1;
  const labels = [];
  eye.camera.aspect = (width / (columns || 1)) / (height / rows);
  eye.camera.updateProjectionMatrix();
  views.forEach((view, i) => {
    const w = width / columns, h = height / rows, x = (i % columns) * w, y = Math.floor(i / columns) * h;
    renderer.setViewport(x, height - y - h, w, h);
    renderer.setScissor(x, height - y - h, w, h);
    renderer.render(view.scene, eye.camera);
    const label = (text, left, top) => labels.push(make('span', { textContent: text, style: `left:${left}px;top:${top}px` }));
    if (views.length > 1) label(view.bodies[0].model.name, x + 6, y + 6);
    const at = (p) => { const v = new THREE.Vector3(...p).project(eye.camera); return [x + (v.x + 1) / 2 * w, y + (1 - v.y) / 2 * h]; };
    if (state.ruler) label(`${rounded(view.ruler.userData.length)} m`, ...at(view.ruler.userData.end));
    if (state.figure) label('1.7 m', ...at([view.figure.position.x, view.figure.position.y + 1.8, view.figure.position.z]));
  });
  $('labels').replaceChildren(...labels);
  if (!document.documentElement.dataset.ready) {
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }
}

const act = {
  set(name, value) {
    state[name] = value;
    if (name === 'colour') {
      state.bin = -1;
      if (fields[value].make) Object.assign(state, { cage: true, edges: true, surface: false, patches: false });
      else Object.assign(state, { cage: false, edges: false, patches: value === 'patch', surface: value !== 'patch' });
      if (fields[value].motion && motion) state.show = 'motion';
    }
    if (name === 'explode' && value > 0) Object.assign(state, { cage: true, edges: true, surface: false });
    if (name === 'frame' && motion) state.show = 'motion';
    if (['model', 'show', 'frame', 'colour'].includes(name)) rebuildIfNeeded(name === 'model' || name === 'show');
    refresh();
    if (name === 'figure') frameView();
    if (name === 'theme') setTheme();
    if (name !== 'frame' || !playing) showFacts();
  },
  find(id, position) {
    state.finding = id;
    if (position) fly(position);
    refresh();
    showFacts();
  },
  worst() {
    const body = views[0].bodies[0], field = body.field?.values ? body.field.values : body.model.quality;
    const isWorstGreat = ['strain', 'distance', 'volume'].includes(state.colour);
    let worst = 0;
    for (let t = 1; t < body.model.numTets; ++t) if (isWorstGreat ? field[t] > field[worst] : field[t] < field[worst]) worst = t;
    if (state.colour === 'base') act.set('colour', 'quality');
    const { centre } = body.model;  // the explosion moves the tet away from it
    fly(body.model.middleOf(worst, body.nodes).map((x, k) => x + (x - centre[k]) * state.explode));
    showTet(body, worst);
  },
};

let shown = '';
function rebuildIfNeeded(frames) {
  const wanted = `${state.model} ${inMotion()}`;
  if (wanted === shown) return;
  shown = wanted;
  makeViews();
  if (frames || inMotion()) frameView();
}

function fly(position) {
  for (const view of views) {
    view.marker.position.set(...position);
    view.marker.visible = true;
  }
  eye.look(position, views[0].size / 7);
}

function showTet(body, tet) {
  const m = body.model;
  $('picked').textContent = `tet ${tet}: quality ${rounded(m.quality[tet])}, smallest dihedral ${rounded(m.dihedral[tet])} degrees, ${rounded(m.volume[tet] * 1e6)} cm\u00b3, ${m.pieces[tet]} pieces of surface`;
}

function pick(event) {
  const body = views.length === 1 && views[0].bodies.find((b) => b.cage?.visible);
  if (!body) return;
  const at = new THREE.Vector2(2 * event.offsetX / canvas.clientWidth - 1, 1 - 2 * event.offsetY / canvas.clientHeight);
  const ray = new THREE.Raycaster();
  ray.setFromCamera(at, eye.camera);
  const hit = ray.intersectObject(body.cage)[0];
  if (hit) showTet(body, body.shownTets[Math.floor(hit.faceIndex / 4)]);
}

const boxes = [['surface', 'surface'], ['cage', 'cage'], ['edges', 'edges'], ['patches', 'patches'], ['pins', 'pins and joints'], ['mass', 'centre of mass'], ['contacts', 'contacts'], ['ruler', 'ruler'], ['figure', '1.7 m figure']];

function choice(name, title, options) {
  const select = make('select', { id: name, onchange: () => act.set(name, select.value) }, ...options.map(([value, text]) => make('option', { value, textContent: text })));
  inputs[name] = (value) => { select.value = value; };
  return make('label', {}, `${title} `, select);
}
function box(name, title) {
  const input = make('input', { type: 'checkbox', id: name, onchange: () => act.set(name, input.checked) });
  inputs[name] = (value) => { input.checked = value; };
  return make('label', {}, input, ` ${title}`);
}
function number(name, title, type, min, max, step) {
  const input = make('input', { type, id: name, min, max, step, oninput: () => { if (Number.isFinite(input.valueAsNumber)) act.set(name, input.valueAsNumber); } });
  inputs[name] = (value) => { if (document.activeElement !== input || type === 'range') input.value = value; };
  return make('label', {}, `${title} `, input);
}
const button = (id, text, onclick) => make('button', { id, textContent: text, onclick });

function makeControls() {
  const modes = Object.entries(fields).filter(([, f]) => motion || !f.motion).map(([value, f]) => [value, f.title]);
  const show = motion && !page.compare ? [choice('show', 'Show', [['rest', 'rest'], ['motion', 'simulation']])] : [];
  $('controls').replaceChildren(...show, choice('colour', 'Colour by', modes), ...boxes.filter(([n]) => motion || n !== 'contacts').map(([n, t]) => box(n, t)),
    choice('cut', 'Cut', [['off', 'off'], ['x', 'x'], ['y', 'y'], ['z', 'z']]), number('at', 'at', 'range', 0, 1, 0.01), number('explode', 'Explode', 'range', 0, 1.5, 0.05),
    button('frame-model', 'Frame', () => frameView()), button('front', 'Front', () => frameView([0, 0, 1])), button('right', 'Right', () => frameView([1, 0, 0])), button('top', 'Top', () => frameView([0, 1, 0.001])));
}

function makePlayback() {
  if (!motion || page.compare) return;
  plots = makePlots(motion, (step) => act.set('frame', motion.frameOfStep(step)));
  const scrub = make('input', { type: 'range', id: 'scrub', min: 0, max: motion.numFrames - 1, step: 1, oninput: () => act.set('frame', scrub.valueAsNumber) });
  scrub.setAttribute('aria-label', 'time');
  const time = make('output', { id: 'time' });
  inputs.frame = (value) => { scrub.value = value; time.textContent = `${motion.time(value).toFixed(2)} s, step ${motion.json.steps[value]}`; };
  const step = (by) => act.set('frame', state.frame + by);
  const deepest = () => {
    const depths = motion.json.per_step.penetration_m.map((d) => d ?? 0);
    act.set('frame', motion.frameOfStep(1 + depths.indexOf(Math.max(...depths))));
  };
  $('playback').hidden = false;
  $('playback').append(make('div', { className: 'row' }, button('play', 'Play', togglePlay), button('back', '\u2212 frame', () => step(-1)), button('forward', '+ frame', () => step(1)),
    choice('speed', 'Speed', [[0.1, '1/10'], [0.25, '1/4'], [1, '1'], [2, '2']]), button('deepest', 'Deepest penetration', deepest), number('budget', 'Frame budget [ms]', 'number', 0.01, 1000, 0.1), time), scrub, ...plots.canvases);
}

function togglePlay() {
  if (playing) {
    cancelAnimationFrame(playing);
    playing = 0;
  } else {
    if (state.frame >= motion.numFrames - 1) act.set('frame', 0);
    const start = performance.now(), from = motion.time(state.frame);
    const tick = () => {
      const now = from + Number(state.speed) * (performance.now() - start) / 1000;
      act.set('frame', motion.frameOfStep(Math.round(now / motion.json.dt)));
      if (state.frame >= motion.numFrames - 1) return togglePlay();
      playing = requestAnimationFrame(tick);
    };
    playing = requestAnimationFrame(tick);
  }
  $('play').textContent = playing ? 'Pause' : 'Play';
}

function setTheme() {
  const dark = state.theme === 'dark' || (state.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  draw();
}

function thumbnail(index) {
  const ref = page.models[index].thumbnail;
  const picture = make('canvas', { width: ref?.width ?? 1, height: ref?.height ?? 1 });
  if (ref) picture.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(read(index, ref.pixels, Uint8Array)), ref.width), 0, 0);
  return picture;
}

async function copyPicture() {
  render();
  const blob = await new Promise((done) => canvas.toBlob(done));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
    $('copy-picture').textContent = 'Copied';
  } catch {  // no clipboard here: save it
    make('a', { href: URL.createObjectURL(blob), download: 'plush.png' }).click();
    $('copy-picture').textContent = 'Saved';
  }
}

function showFacts() {
  document.title = $('title').textContent = `plush report: ${jsonOf().name}`;
  showIndex($('index'), thumbnail, act);
  showPanels($('panels'), views[0]?.bodies[0], jsonOf(), act);
}

async function start() {
  await ready;
  readFragment();
  if (!page.models[state.model]) state.model = 0;
  if (!fields[state.colour]) state.colour = 'base';
  motion = page.motion ? new Motion() : null;
  renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  renderer.localClippingEnabled = true;
  renderer.autoClear = false;
  renderer.setPixelRatio(Math.min(2, devicePixelRatio));
  let settled = 0;
  eye = new Eye(canvas, () => { draw(); clearTimeout(settled); settled = setTimeout(() => { eye.text = state.camera = eye.text; writeFragment(); }, 100); });
  $('theme').append(...['auto', 'light', 'dark'].map((t) => make('option', { value: t, textContent: t })));
  $('theme').onchange = () => act.set('theme', $('theme').value);
  inputs.theme = (value) => { $('theme').value = value; };
  $('copy-picture').onclick = copyPicture;
  $('copy-link').onclick = () => navigator.clipboard?.writeText(location.href).catch(() => {});
  const linked = state.camera;
  makeControls();
  makePlayback();
  setTheme();
  shown = `${state.model} ${inMotion()}`;
  makeViews();
  eye.camera.aspect = canvas.clientWidth / canvas.clientHeight / (page.compare ? views.length : 1);
  frameView([0.6, 0.45, 1]);
  eye.text = linked;
  let down = [0, 0];
  canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
  canvas.addEventListener('pointerup', (event) => { if (Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4) pick(event); });
  addEventListener('keydown', (event) => {
    if (['INPUT', 'SELECT', 'BUTTON'].includes(event.target.tagName)) return;
    if (event.key === 'f') frameView();
    if (!motion || page.compare) return;
    if (event.key === ' ') { event.preventDefault(); togglePlay(); }
    if (event.key === ',' || event.key === '.') act.set('frame', state.frame + (event.key === '.' ? 1 : -1));
  });
  new ResizeObserver(draw).observe(canvas);
  refresh();
  render();
  showFacts();
}

start();
