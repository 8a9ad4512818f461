// SPDX-License-Identifier: MIT
// The findings that the page lists, and their places. "I" names finding I of the list, "I.K" its
// place K.
import { page } from './data.js';
import { state } from './state.js';

export function listFindings() {
  const models = page.compare ? page.models.filter((m) => m.listed) : [page.models[state.model]];
  const of = (model) => model.findings.map((f) => ({ ...f, about: page.compare ? model.name : '' }));
  return [...models.flatMap(of), ...(page.motion?.findings ?? []).map((f) => ({ ...f, verb: 'simulate', about: '' }))];
}

export const placesOf = (finding) => (finding?.places ?? []).filter((p) => p.position?.every((x) => Number.isFinite(x)));

// The positions that `id` names: all places of a finding, or one.
export function positionsOf(id) {
  const [finding, place] = id.split('.');
  if (finding === '') return [];
  const places = placesOf(listFindings()[Number(finding)]);
  return (place === undefined ? places : places.slice(Number(place), Number(place) + 1)).map((p) => p.position);
}
