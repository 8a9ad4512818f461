// SPDX-License-Identifier: MIT
// Curves over the steps of a run, linked to the playback's time.
import { kindCss } from './colours.js';
import { make, rounded } from './dom.js';

const plots = [
  { title: 'energy above its least [J]', keys: ['kinetic_j', 'elastic_j', 'gravity_j'] },
  { title: 'contacts', keys: ['contacts'] },
  { title: 'deepest penetration [m]', keys: ['penetration_m'] },
  { title: 'step time [ms]', keys: ['step_ms'], budget: true },
];

function draw(canvas, plot, perStep, step, budget) {
  const width = canvas.width = canvas.clientWidth * devicePixelRatio || 600;
  const height = canvas.height = 74 * devicePixelRatio;
  const context = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
  const top = 16 * devicePixelRatio;
  const curves = plot.keys.map((key) => {
    const values = perStep[key].map((v) => v ?? 0);
    const low = key === 'gravity_j' ? Math.min(...values) : 0;
    return values.map((v) => v - low);
  });
  let high = Math.max(1e-12, ...curves.map((c) => c.reduce((a, b) => Math.max(a, b), 0)));
  if (plot.budget) high = Math.max(high, budget);
  const y = (v) => height - (height - top) * 0.95 * v / high;
  curves.forEach((values, i) => {
    context.strokeStyle = kindCss([4, 5, 2][i]);
    context.setLineDash(i === 1 ? [6, 3] : i === 2 ? [2, 3] : []);
    context.lineWidth = 1.5 * devicePixelRatio;
    context.beginPath();
    values.forEach((v, k) => context.lineTo(width * (k + 1) / values.length, y(v)));
    context.stroke();
  });
  context.setLineDash([]);
  context.fillStyle = context.strokeStyle = style.getPropertyValue('--fore');
  const line = (x0, y0, x1, y1) => { context.beginPath(); context.moveTo(x0, y0); context.lineTo(x1, y1); context.stroke(); };
  const x = width * step / curves[0].length;
  line(x, top, x, height);
  if (plot.budget) line(0, y(budget), width, y(budget));
  context.font = `${12 * devicePixelRatio}px system-ui`;
  const now = plot.keys.map((key, i) => `${key.replace(/_(j|m|ms)$/, '')} ${rounded(curves[i][Math.max(0, step - 1)] ?? 0)}`).join(', ');
  const over = plot.budget ? `; ${curves[0].filter((v) => v > budget).length} steps above ${budget} ms` : '';
  context.fillText(`${plot.title}: ${now}${over}`, 2, 11 * devicePixelRatio);
}

export function makePlots(motion, seek) {
  const perStep = motion.json.per_step;
  const canvases = plots.map((plot) => {
    const canvas = make('canvas', { className: 'plot', title: plot.title });
    const to = (event) => seek(Math.round(perStep.step_ms.length * event.offsetX / canvas.clientWidth));
    canvas.onpointerdown = (event) => { canvas.setPointerCapture(event.pointerId); to(event); };
    canvas.onpointermove = (event) => { if (event.buttons) to(event); };
    return canvas;
  });
  return { canvases, draw: (step, budget) => plots.forEach((plot, i) => draw(canvases[i], plot, perStep, step, budget)) };
}
