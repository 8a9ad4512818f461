// SPDX-License-Identifier: MIT
// Opens reports in a browser and looks at them. What fails is printed and counted.
import { chromium } from 'playwright-core';
import { pathToFileURL } from 'node:url';

const failures = [];
export const check = (holds, what) => { if (!holds) { failures.push(what); console.log(`FAILED: ${what}`); } };

let browser;
export async function start(executablePath) {
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return browser;
}

// Opens a page, which may log no error and request nothing beside itself.
export async function open(file, options = {}, fragment = '') {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, ...options });
  page.on('console', (m) => { if (m.type() === 'error') check(false, `console: ${m.text()}`); });
  page.on('pageerror', (e) => check(false, `page: ${e.message}`));
  page.on('request', (r) => { if (!/^(file|blob|data):/.test(r.url())) check(false, `request: ${r.url()}`); });
  await page.goto(pathToFileURL(file).href + fragment);
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 30000 });
  return page;
}

// A hash of the picture, and its share of pixels that are not background.
export const picture = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const canvas = document.getElementById('canvas'), copy = document.createElement('canvas');
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const data = context.getImageData(0, 0, copy.width, copy.height).data;
  let hash = 0, drawn = 0;
  for (let i = 0; i < data.length; i += 4) {
    hash = (Math.imul(hash, 31) + data[i] + 256 * data[i + 1] + 65536 * data[i + 2]) | 0;
    if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) drawn += 1;
  }
  done({ hash, share: drawn / (data.length / 4), width: document.documentElement.scrollWidth });
}))));

export const fragment = (page) => page.evaluate(() => location.hash);

// Names of the state that the link has, with their values.
export const stateOf = async (page) => new URLSearchParams((await fragment(page)).slice(1));

// Waits until the camera rests and the link has it.
export const settled = (page) => page.waitForFunction(() => !('moving' in document.documentElement.dataset));

// Does something and expects another picture, and another state.
export async function changes(page, what, action) {
  await settled(page);
  const before = await picture(page), link = await fragment(page);
  await action();
  await settled(page);
  const after = await picture(page);
  check(after.hash !== before.hash, `${what}: the picture stays`);
  check(after.share > 0.005, `${what}: the picture is empty`);
  check(await fragment(page) !== link, `${what}: the state stays`);
}

// The camera's target [m] and its distance from there [m].
export async function cameraOf(page) {
  await settled(page);
  const numbers = ((await stateOf(page)).get('camera') ?? '').split(',').map(Number);
  return { target: numbers.slice(3), distance: Math.hypot(...[0, 1, 2].map((k) => numbers[k] - numbers[3 + k])) };
}

export async function end(name) {
  await browser.close();
  console.log(failures.length ? `${name}: ${failures.length} failures` : `${name}: all is well`);
  process.exit(failures.length ? 1 : 0);
}
