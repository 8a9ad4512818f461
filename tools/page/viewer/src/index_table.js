// SPDX-License-Identifier: MIT
// The table of all files of the page, with thumbnails.
import { page } from './data.js';
import { make, refill, rounded } from './dom.js';
import { state } from './state.js';

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
      : make('td', {}, make('button', { textContent: m.name, dataset: { file: i }, onclick: () => act.set('model', i) })))));
    row.setAttribute('aria-current', state.model === i);
    return row;
  });
  refill(element, make('table', {}, make('tr', {}, make('th'), ...head), ...body));
}
