// SPDX-License-Identifier: MIT
// Facts beside the view: findings, histogram, tables. All texts of files go in as text, never as HTML.
import { page } from './data.js';
import { cssOfLinear, kindCss, rampCss } from './colours.js';
import { binOf, fieldOf, fields, numBins } from './fields.js';
import { state } from './state.js';

export function make(tag, properties = {}, ...children) {
  const { dataset, ...others } = properties;
  const element = Object.assign(document.createElement(tag), others);
  Object.assign(element.dataset, dataset);
  element.append(...children);
  return element;
}

export const rounded = (x) => (typeof x === 'number' && !Number.isInteger(x) ? String(Number(x.toPrecision(4))) : String(x));
const section = (title, ...children) => make('section', {}, make('h2', { textContent: title }), ...children);
const missing = (text) => make('p', { className: 'missing', textContent: text });

function table(rows, head) {
  const body = rows.map((row) => make('tr', {}, ...row.map((cell) =>
    make('td', { className: typeof cell === 'number' ? 'number' : '', textContent: rounded(cell ?? '-') }))));
  const top = head ? [make('tr', {}, ...head.map((text) => make('th', { textContent: text })))] : [];
  return make('table', {}, ...top, ...body);
}

// Name and value of each number or word in an object of objects.
function flat(object, prefix = '') {
  return Object.entries(object ?? {}).flatMap(([key, value]) => {
    if (Array.isArray(value)) return value.every((x) => typeof x !== 'object') ? [[prefix + key, value.map(rounded).join(', ')]] : [];
    return value && typeof value === 'object' ? flat(value, `${prefix}${key}.`) : [[prefix + key, value]];
  });
}

function findingsPanel(json, act) {
  const all = [...json.findings, ...(page.motion?.findings ?? []).map((f) => ({ ...f, verb: 'simulate' }))];
  const items = all.map((finding, i) => {
    const button = make('button', { className: `finding ${finding.severity}`, dataset: { finding: i } },
      make('b', { textContent: `${finding.severity} ${finding.code}` }),
      ` (${finding.verb}, ${finding.count}) ${finding.message}. ${finding.remedy}`);
    button.setAttribute('aria-pressed', state.finding.split('.')[0] === String(i));
    const places = finding.places.filter((p) => p.position?.every((x) => x !== null));
    button.onclick = () => act.find(`${i}.0`, places[0]?.position);
    const list = make('div', { className: 'places' }, ...places.map((place, k) => make('button', {
      textContent: place.object || `place ${k + 1}`, onclick: () => act.find(`${i}.${k}`, place.position) })));
    return make('div', {}, button, list);
  });
  const notes = [];
  if (!json.bake) notes.push(missing('Findings, stages and times of the bake: run "plush bake --report bake.json" and add --bake-report bake.json.'));
  if (!json.findings.some((f) => f.verb === 'check') && !json.bake) notes.push(missing('Findings of the source mesh: add --source.'));
  if (!page.motion) notes.push(missing('Playback: add --simulate with a scene, or with a .plush file to drop.'));
  return section(`Findings (${all.length})`, ...(items.length ? items : [make('p', { textContent: 'None.' })]), ...notes);
}

function histogramPanel(body, act) {
  const { model, field } = body;
  const worst = make('button', { textContent: 'Go to the worst tet', id: 'worst' });
  worst.onclick = () => act.worst();
  if (!field) return section('Tets', make('p', { className: 'missing', textContent: 'Colour by a figure of the tets to see how they are spread.' }), worst);
  const number = field.kinds ? field.names.length : numBins;
  const counts = new Array(number).fill(0);
  for (let t = 0; t < model.numTets; ++t) counts[Math.min(number - 1, binOf(field, t))] += 1;
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, i) => {
    const bar = make('button', { title: `${count} tets`, onclick: () => act.set('bin', state.bin === i ? -1 : i), dataset: { bin: i } });
    bar.setAttribute('aria-label', field.kinds ? `${field.names[i]}: ${count} tets` : `${count} tets from ${rounded(field.low + i * (field.high - field.low) / number)} ${field.unit}`);
    bar.setAttribute('aria-pressed', state.bin === i);
    bar.style.setProperty('--h', `${Math.ceil(100 * count / most)}%`);
    return bar;
  });
  const ends = field.kinds ? [] : [make('div', { className: 'ends' }, make('span', { textContent: rounded(field.low) }), make('span', { textContent: rounded(field.high) }))];
  return section(`${fields[state.colour].title}: ${model.numTets} tets`, make('div', { className: 'bars' }, ...bars), ...ends, worst);
}

function factsPanels(json) {
  const info = json.info ?? {};
  const { sections = [], settings, ...others } = info;
  const components = json.components ?? [];
  const total = sections.reduce((sum, s) => sum + s.bytes, 0) || 1;
  const largest = [...sections].sort((a, b) => b.bytes - a.bytes).filter((s) => s.bytes);
  const list = [];
  if (components.length) {
    list.push(section('Mass by part', table(components.map((c, i) => [`part ${i + 1}`, c.mass_kg, c.tets, c.centre.map(rounded).join(', ')]), ['', 'mass [kg]', 'tets', 'centre [m]'])));
  }
  if (json.bake?.stages) list.push(section('Stages of the bake', table(json.bake.stages.map((s) => [s.name, 1000 * s.seconds]), ['stage', 'ms'])));
  list.push(section('Settings', table(flat(settings))), section('Figures and provenance', table(flat(others))));
  list.push(section('Size by section', table(largest.map((s) => [s.name, s.bytes, `${(100 * s.bytes / total).toFixed(1)}%`]), ['section', 'bytes', 'share'])));
  return list;
}

function differencePanels() {
  return page.differences.map((difference, i) => {
    const title = `${page.models[0].name} and ${page.models[i + 1].name}`;
    if (!difference) return section(title, missing('One of them does not open.'));
    const rows = ['values', 'settings', 'provenance'].flatMap((key) => difference[key].map((d) => [d.key, d.a ?? '-', d.b ?? '-']));
    return section(`${title}: what differs`, table([['rest surface [m]', difference.surface_m ?? 'infinite', ''], ...rows], ['', 'first', 'other']));
  });
}

export function showPanels(element, body, json, act) {
  const panels = [findingsPanel(json, act)];
  if (json.error) panels.unshift(section('This file does not open', make('p', { className: 'error', textContent: json.error })));
  if (page.compare) panels.push(...differencePanels());
  if (body?.model.numTets) panels.push(histogramPanel(body, act));
  panels.push(...factsPanels(json));
  element.replaceChildren(...panels);
}

export function showLegend(element, body) {
  element.replaceChildren();
  if (!body) return;
  const { field, model } = body;
  const swatch = (colour, name) => make('div', {}, Object.assign(make('span', { className: 'swatch' }), { style: `background:${colour}` }), name);
  if (!field) {
    if (state.patches) element.append('collision patches: neighbours differ');
    else element.append(...model.json.materials.map((m) => swatch(cssOfLinear(m.linear_rgb), m.name || 'unnamed')));
  } else if (field.kinds) {
    element.append(fields[state.colour].title, ...field.names.slice(0, 12).map((name, i) => swatch(kindCss(i), name)));
  } else {
    const canvas = make('canvas', { width: 128, height: 1 });
    const context = canvas.getContext('2d');
    for (let i = 0; i < 128; ++i) { context.fillStyle = rampCss(i / 127); context.fillRect(i, 0, 1, 1); }
    element.append(`${fields[state.colour].title} [${field.unit}]`, canvas, make('div', { className: 'ends' },
      make('span', { textContent: rounded(field.low) }), make('span', { textContent: rounded(field.high) })));
  }
}

// Files with their figures; failures first, else by the column that was clicked.
const columns = [
  ['file', (m) => m.name], ['failures', (m) => m.failures], ['findings', (m) => m.findings.length],
  ['tets', (m) => m.info?.simulation?.tets], ['nodes', (m) => m.info?.simulation?.nodes],
  ['least quality', (m) => m.info?.simulation?.min_quality], ['least dihedral', (m) => m.info?.simulation?.min_dihedral_deg],
  ['mass [kg]', (m) => m.info?.simulation?.mass_kg], ['volume ratio', (m) => m.info?.simulation?.volume_ratio], ['bytes', (m) => m.info?.file_bytes ?? m.info?.bytes],
];
let order = { column: 1, down: true };

export function showIndex(element, thumbnail, act) {
  const rows = page.models.map((m, i) => ({ m, i })).filter(({ m }) => m.listed);
  element.hidden = rows.length < 2;
  if (element.hidden) return;
  const value = columns[order.column][1];
  rows.sort((a, b) => {
    const [x, y] = [value(a.m) ?? -Infinity, value(b.m) ?? -Infinity];
    return (x < y ? -1 : x > y ? 1 : a.i - b.i) * (order.down && x !== y ? -1 : 1);
  });
  const head = columns.map(([name], c) => make('th', {}, make('button', { textContent: name, dataset: { sort: c }, onclick: () => {
    order = { column: c, down: order.column === c ? !order.down : c > 0 };
    showIndex(element, thumbnail, act);
  } })));
  const body = rows.map(({ m, i }) => {
    const row = make('tr', { dataset: { row: i } }, make('td', {}, thumbnail(i)), ...columns.map(([, get], c) => (c
      ? make('td', { className: 'number', textContent: rounded(get(m) ?? '-') })
      : make('td', {}, make('button', { textContent: m.name, onclick: () => act.set('model', i) })))));
    row.setAttribute('aria-current', state.model === i);
    return row;
  });
  element.replaceChildren(make('table', {}, make('tr', {}, make('th'), ...head), ...body));
}
