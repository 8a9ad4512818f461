// SPDX-License-Identifier: MIT
// What the colours mean: one legend for all bodies shown.
import { cssOfLinear, kindCss, rampCss } from './colours.js';
import { make, rounded } from './dom.js';
import { fields } from './fields.js';
import { state } from './state.js';

const swatch = (colour, name) => make('div', {}, Object.assign(make('span', { className: 'swatch' }), { style: `background:${colour}` }), name);

// The legend as data, for the page and for a sheet: a title, and a ramp's ends or kinds with colours.
export function legendOf(bodies) {
  const field = bodies.find((b) => b.field)?.field;
  if (field?.kinds) {
    const used = new Set(bodies.flatMap((b) => [...(b.field?.kinds ?? [])]));
    const kinds = field.names.map((name, i) => ({ name, colour: kindCss(i), used: used.has(i) })).filter((k) => k.used);
    return { title: fields[state.colour].title, kinds };
  }
  if (field) return { title: `${fields[state.colour].title} [${field.unit}]`, low: field.low, high: field.high };
  if (state.patches) return { title: 'collision patches: neighbours differ', kinds: [] };
  const named = new Map(bodies.flatMap((b) => b.model.json.materials ?? []).map((m) => [m.name || 'unnamed', cssOfLinear(m.linear_rgb)]));
  return { title: '', kinds: [...named].map(([name, colour]) => ({ name, colour })) };
}

const mostKinds = 12;
export function showLegend(element, bodies) {
  const { title, kinds, low, high } = legendOf(bodies);
  if (kinds) {
    const rest = kinds.length > mostKinds ? [make('div', { textContent: `and ${kinds.length - mostKinds} more` })] : [];
    element.replaceChildren(title, ...kinds.slice(0, mostKinds).map((k) => swatch(k.colour, k.name)), ...rest);
    return;
  }
  const canvas = make('canvas', { width: 128, height: 1 });
  const context = canvas.getContext('2d');
  for (let i = 0; i < 128; ++i) { context.fillStyle = rampCss(i / 127); context.fillRect(i, 0, 1, 1); }
  element.replaceChildren(title, canvas, make('div', { className: 'ends' },
    make('span', { textContent: rounded(low) }), make('span', { textContent: rounded(high) })));
}
