// SPDX-License-Identifier: MIT
// A sheet of pictures for `plush report --png`: what the page shows first, and what it can show.
import { page } from './data.js';
import { rampCss } from './colours.js';
import { rounded } from './dom.js';
import { legendOf } from './legend.js';
import { defaults, state } from './state.js';

const width = 360, height = 270, foot = 46, columns = 4, most = 12;
const cage = { surface: false, cage: true, edges: true };
const right = [1, 0.25, 0.3], front = [0.1, 0.2, 1], corner = [0.6, 0.45, 1];

// Pictures of a model, or of all compared: what to call them, from where, and their state.
const ofModel = [
  ['surface', corner, {}], ['surface, from the right', right, {}],
  ['cage', corner, { ...cage, colour: 'quality' }], ['cage', corner, { ...cage, colour: 'dihedral' }],
  ['cut', right, { ...cage, colour: 'distance', cut: 'x' }], ['exploded', corner, { ...cage, colour: 'quality', explode: 0.5 }],
  ['collision patches', corner, { surface: false, patches: true, colour: 'patch' }], ['scale', front, { ruler: true, figure: true }],
];

function shotsOf(motion) {
  const listed = page.models.map((m, i) => ({ m, i })).filter(({ m }) => m.arrays && m.listed);
  const models = page.compare ? [{ m: { name: 'all' }, i: 0 }] : listed.slice(0, most);
  const shots = models.flatMap(({ m, i }) => ofModel
    .filter(([, , s]) => !m.static || Object.keys(s).every((key) => ['ruler', 'figure'].includes(key)))
    .map(([title, from, s]) => ({ title: `${m.name}: ${title}`, from, state: { model: i, ...s } })));
  if (!motion || page.compare) return shots;
  const depths = motion.json.per_step.penetration_m.map((d) => d ?? 0), deepest = 1 + depths.indexOf(Math.max(...depths));
  const frames = [0, 1, 2, 3].map((k) => Math.round(k * (motion.numFrames - 1) / 3));
  const at = (frame, title, s) => ({ title: `${title}, ${motion.time(frame).toFixed(2)} s`, from: corner, state: { show: 'motion', frame, ...s } });
  const deep = motion.frameOfStep(deepest);
  return [...shots, ...frames.map((f) => at(f, 'simulation', {})), at(deep, 'deepest penetration', { ...cage, colour: 'strain' }), at(deep, 'contact', { ...cage, colour: 'contact' })];
}

function drawLegend(context, bodies, x, y) {
  const { title, kinds, low, high } = legendOf(bodies);
  const line = (text, left, top) => context.fillText(text, left, top, width - (left - x) - 6);
  if (!kinds) {
    for (let i = 0; i < 120; ++i) { context.fillStyle = rampCss(i / 119); context.fillRect(x + i, y + 6, 1, 10); }
    context.fillStyle = '#1b1c1e';
    line(`${rounded(low)} to ${rounded(high)}: ${title}`, x + 128, y + 15);
    return;
  }
  let left = x;
  for (const { name, colour } of kinds.slice(0, 5)) {
    context.fillStyle = colour;
    context.fillRect(left, y + 6, 10, 10);
    context.fillStyle = '#1b1c1e';
    line(name, left + 14, y + 15);
    left += 24 + Math.min(110, context.measureText(name).width);
    if (left > x + width - 60) break;
  }
}

// Replaces the document by the sheet as a PNG in base64.
export function drawSheet(stage) {
  document.documentElement.dataset.theme = 'light';
  const shots = shotsOf(stage.motion), rows = Math.max(1, Math.ceil(shots.length / columns));
  const sheet = document.createElement('canvas');
  Object.assign(sheet, { width: columns * (width + 8) + 8, height: rows * (height + foot + 8) + 8 });
  const context = sheet.getContext('2d');
  context.fillStyle = '#f6f6f4';
  context.fillRect(0, 0, sheet.width, sheet.height);
  stage.renderer.setPixelRatio(1);
  let made = '';
  shots.forEach((shot, i) => {
    Object.assign(state, defaults, shot.state);
    if (`${state.model} ${state.show}` !== made) stage.makeViews();
    made = `${state.model} ${state.show}`;
    stage.refresh();
    stage.frame(shot.from, width, height);
    const x = 8 + (i % columns) * (width + 8), y = 8 + Math.floor(i / columns) * (height + foot + 8);
    let labels = [];
    stage.rendered = (given) => { labels = given; };
    stage.render(width, height);
    context.drawImage(stage.canvas, x, y, width, height);
    context.fillStyle = '#1b1c1e';
    context.font = '13px sans-serif';
    for (const [text, left, top] of labels) context.fillText(text, x + left, y + top + 12);
    context.fillText(shot.title, x, y + height + 16, width);
    context.font = '12px sans-serif';
    drawLegend(context, stage.bodies, x, y + height + 20);
  });
  const text = document.createElement('pre');
  text.id = 'sheet';
  text.textContent = sheet.toDataURL('image/png').split(',')[1];
  document.body.replaceChildren(text);
  document.documentElement.dataset.ready = 'sheet';
}
