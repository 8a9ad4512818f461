// SPDX-License-Identifier: MIT
// Facts beside the view: findings, histograms, parts, tables.
import { page } from './data.js';
import { make, refill, rounded } from './dom.js';
import { binOf, fields, numBins } from './fields.js';
import { listFindings, placesOf } from './findings.js';
import { state } from './state.js';

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

// Why a finding matters and how to mend it, as `plush explain` says.
function explanationOf(finding, i, isOpen) {
  const { why, blender, maya } = finding.explanation ?? {};
  if (!why) return [];
  const part = (title, text) => (text ? [make('p', {}, make('b', { textContent: `${title}: ` }), text)] : []);
  return [make('details', { open: isOpen }, make('summary', { textContent: 'Why, and how to mend it', dataset: { why: i } }),
    ...part('Why it matters', why), ...part('In Blender', blender), ...part('In Maya', maya))];
}

function findingItem(finding, i, act) {
  const [chosen] = state.finding.split('.');
  const isChosen = chosen === String(i);
  const button = make('button', { className: `finding ${finding.severity}`, dataset: { finding: i }, onclick: () => act.choose({ finding: String(i) }) },
    make('b', { textContent: `${finding.severity} ${finding.code}` }),
    ` (${finding.about ? `${finding.about}, ` : ''}${finding.verb}, ${finding.count}) ${finding.message}. ${finding.remedy}`);
  button.setAttribute('aria-pressed', isChosen);
  const places = placesOf(finding).map((place, k) => {
    const go = make('button', { textContent: place.object || `place ${k + 1}`, onclick: () => act.choose({ finding: `${i}.${k}` }), dataset: { place: `${i}.${k}` } });
    go.setAttribute('aria-pressed', state.finding === `${i}.${k}`);
    return go;
  });
  return make('div', {}, button, make('div', { className: 'places' }, ...places), ...explanationOf(finding, i, isChosen));
}

function findingsPanel(json, act) {
  const all = listFindings(), notes = [];
  const items = all.map((finding, i) => findingItem(finding, i, act));
  if (!json.bake) notes.push(missing('Findings, stages and command line of the bake: run "plush bake --report bake.json" and add --bake-report bake.json.'));
  if (!json.findings.some((f) => f.verb === 'check') && !json.bake) notes.push(missing('Findings of the source mesh: add --source.'));
  if (!page.motion) notes.push(missing('Playback: add --simulate with a scene, or with a .plush file to drop.'));
  return section(`Findings (${all.length})`, ...(items.length ? items : [make('p', { textContent: 'None.' })]), ...notes);
}

// Bars of the tets of some bodies; a click selects the same range in all of them.
function bars(bodies, act) {
  const { field } = bodies[0];
  const number = field.kinds ? field.names.length : numBins;
  const counts = new Array(number).fill(0);
  for (const body of bodies) {
    for (let t = 0; t < body.model.numTets; ++t) counts[Math.min(number - 1, binOf(body.field, t))] += 1;
  }
  const most = Math.max(...counts, 1);
  const list = counts.map((count, i) => {
    const bar = make('button', { title: `${count} tets`, onclick: () => act.choose({ bin: i }), dataset: { bin: i } });
    bar.setAttribute('aria-label', field.kinds ? `${field.names[i]}: ${count} tets` : `${count} tets from ${rounded(field.low + i * (field.high - field.low) / number)} ${field.unit}`);
    bar.setAttribute('aria-pressed', state.bin === i);
    bar.style.setProperty('--h', `${Math.ceil(100 * count / most)}%`);
    return bar;
  });
  const ends = field.kinds ? [] : [make('div', { className: 'ends' }, make('span', { textContent: rounded(field.low) }), make('span', { textContent: rounded(field.high) }))];
  return [make('div', { className: 'bars' }, ...list), ...ends];
}

// A histogram of each view: of all bodies of a run, and of each model compared.
function histogramPanels(bodies, act) {
  const withTets = bodies.filter((b) => b.model.numTets);
  const groups = page.compare ? withTets.map((b) => [b]) : withTets.length ? [withTets] : [];
  return groups.map((group) => {
    const tets = group.reduce((sum, b) => sum + b.model.numTets, 0);
    const title = group[0].field ? fields[state.colour].title : 'Tets';
    const name = page.compare ? `${group[0].model.name}: ` : '';
    const worst = group.map((b, i) => {
      const of = group.length > 1 ? ` of body ${i + 1}, ${b.model.name}` : '';
      const number = bodies.indexOf(b);
      return make('button', { textContent: `Go to the worst tet${of}`, id: number ? `worst-${number}` : 'worst', onclick: () => act.worst(number) });
    });
    const content = group[0].field ? bars(group, act) : [missing('Colour by a figure of the tets to see how they are spread.')];
    return section(`${name}${title}: ${tets} tets`, ...content, make('div', { className: 'places' }, ...worst));
  });
}

// Everything of the bodies that has a name, as buttons that select it.
function partsPanel(bodies, act) {
  const blocks = bodies.flatMap((body, number) => {
    const used = new Set(body.model.material);  // not every material of the surface has tets
    const { json } = body.model, several = bodies.length < 2 ? '' : `${page.compare ? '' : `body ${number + 1}, `}${body.model.name}: `;
    const list = (title, kind, items, name) => {
      if (!items?.length || !body.model.numTets) return [];
      const buttons = items.flatMap((item, i) => {
        if (!name(item, i)) return [];
        const select = `${kind}.${number}.${i}`;
        const go = make('button', { textContent: name(item, i), dataset: { select }, onclick: () => act.choose({ select }) });
        go.setAttribute('aria-pressed', state.select === select);
        return go;
      });
      return [make('div', { className: 'places' }, `${several}${title} `, ...buttons)];
    };
    return [...list('parts of the cage', 'part', json.components, (c, i) => `part ${i + 1}`),
      ...list('surfaces', 'name', json.parts, (p, i) => [p.name || `surface ${i + 1}`, body.model.json.materials[p.material]?.name].filter((text) => text).join(', ')),
      ...list('materials', 'material', json.info?.simulation?.materials, (m, i) => (used.has(i) ? m.name || 'unnamed' : '')),
      ...list('pins and joints', 'region', json.regions, (r) => r.name)];
  });
  return blocks.length ? [section('Go to', ...blocks)] : [];
}

function factsPanels(json) {
  const info = json.info ?? {};
  const { sections = [], settings, ...others } = info;
  const components = json.components ?? [];
  const total = sections.reduce((sum, s) => sum + s.bytes, 0) || 1;
  const largest = [...sections].sort((a, b) => b.bytes - a.bytes).filter((s) => s.bytes);
  const list = [];
  if (json.bake?.command) list.push(section('Command line of the bake', make('code', { id: 'command', textContent: json.bake.command })));
  if (components.length) {
    list.push(section('Mass by part', table(components.map((c, i) => [`part ${i + 1}`, c.mass_kg, c.tets, c.centre.map(rounded).join(', ')]), ['', 'mass [kg]', 'tets', 'centre [m]'])));
  }
  if (json.bake?.stages) list.push(section('Stages of the bake', table(json.bake.stages.map((s) => [s.name, 1000 * s.seconds]), ['stage', 'ms'])));
  list.push(section('Settings', table(flat(settings))), section('Figures and provenance', table(flat(others))));
  list.push(section('Size by section', table(largest.map((s) => [s.name, s.bytes, `${(100 * s.bytes / total).toFixed(1)}%`]), ['section', 'bytes', 'share'])));
  return list;
}

// The figures of a run: its worst step, and what a step costs.
function runPanel(motion) {
  const { per_step: steps } = motion;
  const most = (key) => steps[key].reduce((m, v) => Math.max(m, v ?? 0), 0);
  const mean = steps.step_ms.reduce((s, v) => s + (v ?? 0), 0) / (steps.step_ms.length || 1);
  const least = steps.min_det_f.reduce((m, v) => Math.min(m, v ?? Infinity), Infinity);
  return section('Simulation', table([['scene', motion.scene], ['steps', steps.step_ms.length], ['time step [s]', motion.dt], ['mean step time [ms]', mean],
    ['longest step [ms]', most('step_ms')], ['deepest penetration [m]', most('penetration_m')], ['most contacts', most('contacts')], ['largest speed [m/s]', most('max_speed_m_s')], ['least det F', least]]));
}

function differencePanels() {
  return page.differences.map((difference, i) => {
    const title = `${page.models[0].name} and ${page.models[i + 1].name}`;
    if (!difference) return section(title, missing('One of them does not open.'));
    const rows = ['values', 'settings', 'provenance'].flatMap((key) => difference[key].map((d) => [d.key, d.a ?? '-', d.b ?? '-']));
    return section(`${title}: what differs`, table([['rest surface [m]', difference.surface_m ?? 'infinite', ''], ...rows], ['', 'first', 'other']));
  });
}

export function showPanels(element, bodies, json, act) {
  const panels = [findingsPanel(json, act)];
  if (json.error) panels.unshift(section('This file does not open', make('p', { className: 'error', textContent: json.error })));
  if (page.compare) panels.push(...differencePanels());
  panels.push(...histogramPanels(bodies, act), ...partsPanel(bodies, act), ...(page.motion ? [runPanel(page.motion)] : []), ...factsPanels(json));
  refill(element, ...panels);
}
