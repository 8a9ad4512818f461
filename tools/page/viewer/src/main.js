// SPDX-License-Identifier: MIT
// The viewer of `plush report`: keeps state, picture and panels in step.
import { makeControls, makePlayback, showControls } from './controls.js';
import { page, read, ready } from './data.js';
import { make, rounded } from './dom.js';
import { fields } from './fields.js';
import { showIndex } from './index_table.js';
import { showLegend } from './legend.js';
import { Motion } from './motion.js';
import { showPanels } from './panels.js';
import { parse } from './selection.js';
import { drawSheet } from './sheet.js';
import { Stage } from './stage.js';
import { readFragment, state, writeFragment } from './state.js';

const $ = (id) => document.getElementById(id);
const canvas = $('canvas');
let stage, playback = null, shown = '';

function refresh() {
  const { motion } = stage;
  if (motion) state.frame = Math.min(Math.max(0, Math.round(state.frame)), motion.numFrames - 1);
  stage.refresh();
  showLegend($('legend'), stage.bodies);
  showPicked();
  if (playback) playback.plots.draw(motion.json.steps[state.frame], state.budget);
  showControls();
  writeFragment();
}

function setColour(name) {
  state.bin = -1;
  const byTet = fields[name].make && !fields[name].surface;
  const surface = !byTet && name !== 'patch';
  Object.assign(state, { cage: Boolean(byTet), edges: Boolean(byTet), surface, patches: name === 'patch' });
  if (fields[name].motion && stage.motion) state.show = 'motion';
}

const act = {
  // `quick` leaves the panels as they are, for a playback.
  set(name, value, quick = false) {
    state[name] = value;
    if (name === 'colour') setColour(value);
    if (name === 'explode' && value > 0) Object.assign(state, { cage: true, edges: true, surface: false });
    if (name === 'frame' && stage.motion) state.show = 'motion';
    if (name === 'model') Object.assign(state, { select: '', finding: '', bin: -1 });
    const rebuilt = rebuildIfNeeded();
    refresh();
    if (rebuilt || name === 'figure') stage.frame();
    if (name === 'theme') setTheme();
    if (!quick) showFacts();
  },
  // Selects one of {finding, select, bin}, or nothing, and frames it.
  choose(what) {
    const same = Object.keys(what).every((key) => state[key] === what[key]);
    Object.assign(state, { finding: '', select: '', bin: -1 }, same ? {} : what);
    if (state.select.startsWith('region')) state.pins = true;
    refresh();
    stage.frame();
    showFacts();
  },
  // Goes to the tet of the least value of what is shown, or of the greatest if that is worse.
  worst(number) {
    if (!stage.bodies[number].field?.values) {
      state.colour = 'quality';
      setColour('quality');
      refresh();
    }
    const body = stage.bodies[number], { values } = body.field;
    const sign = ['strain', 'distance', 'volume'].includes(state.colour) ? -1 : 1;
    const worst = values.reduce((w, value, t) => (sign * value < sign * values[w] ? t : w), 0);
    state.select = '';
    act.choose({ select: `tet.${number}.${worst}` });
  },
};

function rebuildIfNeeded() {
  const wanted = `${state.model} ${stage.inMotion}`;
  if (wanted === shown) return false;
  shown = wanted;
  stage.makeViews();
  return true;
}

// Says what is known of the selected tet.
function showPicked() {
  const chosen = parse(state.select), body = stage.bodies[chosen?.body], t = chosen?.index;
  const isTet = chosen?.kind === 'tet' && t < (body?.model.numTets ?? 0);
  $('picked').textContent = isTet ? tetText(body, t) : '';
}
function tetText(body, t) {
  const m = body.model, value = body.field?.values;
  const now = value && fields[state.colour].motion ? `, ${fields[state.colour].title} ${rounded(value[t])} ${body.field.unit}` : '';
  const of = stage.bodies.length > 1 ? ` of ${m.name}` : '';
  return `tet ${t}${of}: quality ${rounded(m.quality[t])}, smallest dihedral ${rounded(m.dihedral[t])} degrees, ${rounded(m.volume[t] * 1e6)} cm\u00b3, part ${m.component[t] + 1}, ${m.pieces[t]} pieces of surface${now}`;
}

function setTheme() {
  const dark = state.theme === 'dark' || (state.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  stage.draw();
}

const pictures = new Map();
function thumbnail(index) {
  const ref = page.models[index].thumbnail;
  if (!pictures.has(index)) {
    const picture = make('canvas', { width: ref?.width ?? 1, height: ref?.height ?? 1 });
    if (ref) picture.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(read(index, ref.pixels, Uint8Array)), ref.width), 0, 0);
    pictures.set(index, picture);
  }
  return pictures.get(index);
}

function download(href, name) {
  make('a', { href, download: name }).click();
}
async function copyPicture() {
  stage.render();
  const blob = await new Promise((done) => canvas.toBlob(done));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
    $('copy-picture').textContent = 'Picture copied';
  } catch {  // no clipboard here: save it
    download(URL.createObjectURL(blob), 'plush.png');
    $('copy-picture').textContent = 'Picture saved';
  }
}
async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    $('copy-link').textContent = 'Link copied';
  } catch {  // no clipboard here: show it
    prompt('The link to what is shown:', location.href);
  }
}

function showFacts() {
  document.title = $('title').textContent = `plush report: ${page.models[state.model].name}`;
  showIndex($('index'), thumbnail, act);
  showPanels($('panels'), stage.bodies, page.models[state.model], act);
}

function showLabels(labels) {
  $('labels').replaceChildren(...labels.map(([text, x, y]) => make('span', { textContent: text, style: `left:${x}px;top:${y}px` })));
}

function listen() {
  let down = [0, 0];
  canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
  canvas.addEventListener('pointerup', (event) => {
    if (Math.hypot(event.clientX - down[0], event.clientY - down[1]) >= 4) return;
    const found = stage.pick(event.offsetX, event.offsetY);
    if (!found) return;
    Object.assign(state, { finding: '', bin: -1, select: `tet.${found.body}.${found.tet}` });
    refresh();
    showFacts();
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') act.choose({});
    if (['INPUT', 'SELECT', 'BUTTON', 'SUMMARY'].includes(event.target.tagName)) return;
    if (event.key === 'f') stage.frame();
    if (!playback) return;
    if (event.key === ' ') { event.preventDefault(); playback.toggle(); }
    if (event.key === ',' || event.key === '.') act.set('frame', state.frame + (event.key === '.' ? 1 : -1));
  });
  new ResizeObserver(() => stage.draw()).observe(canvas);
  $('copy-picture').onclick = copyPicture;
  $('copy-link').onclick = copyLink;
}

async function start() {
  await ready;
  readFragment();
  if (!page.models[state.model]) state.model = 0;
  if (!fields[state.colour]) state.colour = 'base';
  // The link follows a moving camera once it rests.
  const { dataset } = document.documentElement;
  let settled = 0;
  const settle = () => {
    stage.eye.text = state.camera = stage.eye.text;
    writeFragment();
    clearTimeout(settled);  // setting the camera to its rounded text moved it
    delete dataset.moving;
  };
  stage = new Stage(canvas, () => {
    dataset.moving = '';
    clearTimeout(settled);
    settled = setTimeout(settle, 100);
  }, showLabels);
  stage.motion = page.motion ? new Motion() : null;
  if (new URLSearchParams(location.hash.slice(1)).has('sheet')) return drawSheet(stage);
  const linked = state.camera;
  setTheme();
  rebuildIfNeeded();
  if (stage.motion) state.frame = Math.min(Math.max(0, Math.round(state.frame)), stage.motion.numFrames - 1);
  stage.refresh();
  stage.frame([0.6, 0.45, 1]);
  stage.eye.text = linked;
  stage.render();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  makeControls(act, stage);
  if (stage.motion && !page.compare) playback = makePlayback(stage.motion);
  listen();
  refresh();
  showFacts();
}

start();
