// SPDX-License-Identifier: MIT
// Elements of the page. All texts of files go in as text, never as HTML.
export function make(tag, properties = {}, ...children) {
  const { dataset, ...others } = properties;
  const element = Object.assign(document.createElement(tag), others);
  Object.assign(element.dataset, dataset);
  element.append(...children);
  return element;
}

export const rounded = (x) => (typeof x === 'number' && !Number.isInteger(x) ? String(Number(x.toPrecision(4))) : String(x));

// Replaces an element's children. What has the focus keeps it if it is there again.
export function refill(element, ...children) {
  const key = (e) => `${e.id} ${JSON.stringify(e.dataset)}`;
  const focused = element.contains(document.activeElement) ? key(document.activeElement) : null;
  element.replaceChildren(...children);
  if (focused) [...element.querySelectorAll('button, summary')].find((e) => key(e) === focused)?.focus({ preventScroll: true });
}
