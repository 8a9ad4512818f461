// SPDX-License-Identifier: MIT
// The controls below the view and of the playback. Each shows and sets one name of the state.
import { page } from './data.js';
import { fields } from './fields.js';
import { make } from './dom.js';
import { makePlots } from './plots.js';
import { state } from './state.js';

const $ = (id) => document.getElementById(id);
const shown = {};  // by name of the state: how its control takes a value
let act;

// Lets all controls show the state.
export function showControls() {
  for (const [name, show] of Object.entries(shown)) show(state[name]);
}

function choice(name, title, options) {
  const select = make('select', { id: name, onchange: () => act.set(name, select.value) }, ...options.map(([value, text]) => make('option', { value, textContent: text })));
  shown[name] = (value) => { select.value = value; };
  return make('label', {}, `${title} `, select);
}
function box(name, title) {
  const input = make('input', { type: 'checkbox', id: name, onchange: () => act.set(name, input.checked) });
  shown[name] = (value) => { input.checked = value; };
  return make('label', {}, input, ` ${title}`);
}
function number(name, title, type, min, max, step) {
  const input = make('input', { type, id: name, min, max, step, oninput: () => { if (Number.isFinite(input.valueAsNumber)) act.set(name, input.valueAsNumber); } });
  shown[name] = (value) => { if (document.activeElement !== input || type === 'range') input.value = value; };
  return make('label', {}, `${title} `, input);
}
const button = (id, text, onclick) => make('button', { id, textContent: text, onclick });

const boxes = [['surface', 'surface'], ['cage', 'cage'], ['edges', 'edges'], ['patches', 'patches'], ['pins', 'pins and joints'], ['mass', 'centre of mass'], ['contacts', 'contacts'], ['ruler', 'ruler'], ['figure', '1.7 m figure']];

export function makeControls(actions, stage) {
  act = actions;
  const { motion } = stage;
  const modes = Object.entries(fields).filter(([, f]) => motion || !f.motion).map(([value, f]) => [value, f.title]);
  const show = motion && !page.compare ? [choice('show', 'Show', [['rest', 'rest'], ['motion', 'simulation']])] : [];
  const look = (direction) => () => stage.frame(direction);
  $('controls').replaceChildren(...show, choice('colour', 'Colour by', modes), ...boxes.filter(([n]) => motion || n !== 'contacts').map(([n, t]) => box(n, t)),
    choice('cut', 'Cut', [['off', 'off'], ['x', 'x'], ['y', 'y'], ['z', 'z']]), number('at', 'at', 'range', 0, 1, 0.01), number('explode', 'Explode', 'range', 0, 1.5, 0.05),
    button('frame-model', 'Frame', look()), button('front', 'Front', look([0, 0, 1])), button('right', 'Right', look([1, 0, 0])), button('top', 'Top', look([0, 1, 0.001])),
    button('clear', 'Clear selection', () => act.choose({})));
  const theme = $('theme');
  theme.append(...['auto', 'light', 'dark'].map((t) => make('option', { value: t, textContent: t })));
  theme.onchange = () => act.set('theme', theme.value);
  shown.theme = (value) => { theme.value = value; };
}

// The playback of `motion`: {plots, toggle}.
export function makePlayback(motion) {
  const plots = makePlots(motion, (step) => act.set('frame', motion.frameOfStep(step)));
  const scrub = make('input', { type: 'range', id: 'scrub', min: 0, max: motion.numFrames - 1, step: 1, oninput: () => act.set('frame', scrub.valueAsNumber) });
  scrub.setAttribute('aria-label', 'time');
  const time = make('output', { id: 'time' });
  shown.frame = (value) => { scrub.value = value; time.textContent = `${motion.time(value).toFixed(2)} s, step ${motion.json.steps[value]}`; };
  const step = (by) => act.set('frame', state.frame + by);
  const deepest = () => {
    const depths = motion.json.per_step.penetration_m.map((d) => d ?? 0);
    act.set('frame', motion.frameOfStep(1 + depths.indexOf(Math.max(...depths))));
  };
  const toggle = player(motion);
  $('playback').hidden = false;
  $('playback').append(make('div', { className: 'row' }, button('play', 'Play', toggle), button('back', '\u2212 frame', () => step(-1)), button('forward', '+ frame', () => step(1)),
    choice('speed', 'Speed', [[0.1, '1/10'], [0.25, '1/4'], [1, '1'], [2, '2']]), button('deepest', 'Deepest penetration', deepest), number('budget', 'Frame budget [ms]', 'number', 0.01, 1000, 0.1), time), scrub, ...plots.canvases);
  return { plots, toggle };
}

// Starts and stops the playback, from where it is.
function player(motion) {
  const toggle = () => {
    if (toggle.playing) {
      cancelAnimationFrame(toggle.playing);
      toggle.playing = 0;
    } else {
      if (state.frame >= motion.numFrames - 1) act.set('frame', 0);
      const start = performance.now(), from = motion.time(state.frame);
      const tick = () => {
        const now = from + Number(state.speed) * (performance.now() - start) / 1000;
        act.set('frame', motion.frameOfStep(Math.round(now / motion.json.dt)), toggle.playing);
        if (state.frame >= motion.numFrames - 1) return toggle();
        toggle.playing = requestAnimationFrame(tick);
      };
      toggle.playing = requestAnimationFrame(tick);
    }
    $('play').textContent = toggle.playing ? 'Pause' : 'Play';
  };
  toggle.playing = 0;
  return toggle;
}
