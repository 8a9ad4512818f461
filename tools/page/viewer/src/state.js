// SPDX-License-Identifier: MIT
// What the user has chosen, kept in the link's fragment.
export const defaults = {
  model: 0, show: 'rest', colour: 'base', surface: true, cage: false, edges: false, patches: false, pins: false,
  mass: false, contacts: true, ruler: false, figure: false, cut: 'off', at: 0.5, explode: 0, bin: -1, frame: 0, speed: 1,
  finding: '', select: '', theme: 'auto', budget: 2, camera: '',
};
export const state = { ...defaults };

export function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [key, value] of Object.entries(defaults)) {
    state[key] = value;
    if (!given.has(key)) continue;
    const text = given.get(key);
    if (typeof value === 'boolean') state[key] = text === '1';
    else if (typeof value === 'number') state[key] = Number.isFinite(Number(text)) ? Number(text) : value;
    else state[key] = text;
  }
}

export function writeFragment() {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(defaults)) {
    if (state[key] === value) continue;
    parameters.set(key, typeof value === 'boolean' ? (state[key] ? '1' : '0') : state[key]);
  }
  history.replaceState(null, '', `#${parameters}`);
}
