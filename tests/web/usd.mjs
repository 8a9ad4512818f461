// SPDX-License-Identifier: MIT
// Reads scenes of `plush export --to usda` with tinyusdz, which runs in a browser only: good ones
// are read, and say what was written; broken ones are refused.
//
//   node usd.mjs CHROMIUM GOOD.usda...
import { readFileSync } from 'node:fs';
import { check, end, start } from './pages.mjs';

const [executablePath, ...paths] = process.argv.slice(2);
const page = await (await start(executablePath)).newPage();
page.on('pageerror', (e) => check(false, `page: ${e.message}`));
const part = (name) => readFileSync(new URL(`node_modules/tinyusdz/${name}`, import.meta.url));
const served = {
  '/': ['text/html', '<!doctype html><title>tinyusdz</title>'],
  '/tinyusdz.js': ['text/javascript', part('tinyusdz.js')],
  '/tinyusdz.wasm': ['application/wasm', part('tinyusdz.wasm')],
};
await page.route('http://usd.test/**', (route) => {
  const [contentType, body] = served[new URL(route.request().url()).pathname] ?? [];
  return body ? route.fulfill({ contentType, body }) : route.abort();
});
await page.goto('http://usd.test/');

const read = (text) => page.evaluate(async (given) => {
  const { default: init } = await import('/tinyusdz.js');
  globalThis.native ??= await init();
  const bytes = new TextEncoder().encode(given);
  const loader = new native.TinyUSDZLoaderNative(), layers = new native.TinyUSDZLoaderNative();
  const result = { ok: loader.loadFromBinary(bytes, 'scene.usda'), error: loader.error() };
  if (result.ok) {
    const mesh = loader.numMeshes() ? loader.getMesh(0) : null;
    Object.assign(result, { meshes: loader.numMeshes(), points: mesh?.points.length, indices: mesh?.faceVertexIndices.length });
    result.layer = layers.loadAsLayerFromBinary(bytes, 'scene.usda') ? layers.layerToString() : '';
  }
  loader.delete();
  layers.delete();
  return result;
}, text);

const numbers = (text, name) => (new RegExp(`${name.replace(/[[\]]/g, '\\$&')} = \\[([^\\]]*)\\]`).exec(text)?.[1] ?? '').match(/-?[\d.e+-]+/g)?.map(Number) ?? [];
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  const result = await read(text);
  check(result.ok, `${path}: ${result.error}`);
  if (!result.ok) continue;
  const visual = text.slice(text.indexOf('def Mesh "Visual"'));
  check(result.meshes === 1, `${path}: ${result.meshes} meshes`);
  check(result.points === numbers(visual, 'point3f[] points').length, `${path}: ${result.points} coordinates of the render mesh`);
  check(result.indices === numbers(visual, 'int[] faceVertexIndices').length, `${path}: ${result.indices} corners of the render mesh`);
  for (const name of ['int4[] tetVertexIndices', 'int3[] surfaceFaceVertexIndices']) {
    const written = numbers(text, name), found = numbers(result.layer, name);
    check(written.length > 0 && found.join() === written.join(), `${path}: ${name} is read as ${found.length} of ${written.length} numbers`);
  }
  check(/def TetMesh "Simulation"/.test(result.layer), `${path}: the cage is no TetMesh`);
  const stiffness = /youngsModulus = ([\d.e+]+)/.exec(text)?.[1];
  check(Number(/youngsModulus = ([\d.e+]+)/.exec(result.layer)?.[1]) === Number(stiffness), `${path}: Young's modulus is not ${stiffness}`);
  console.log(`${path}: read, ${result.points / 3} points, ${numbers(text, 'int4[] tetVertexIndices').length / 4} tets`);
  const broken = {
    'cut short': text.slice(0, 0.6 * text.length),
    'tets of a wrong type': text.replace('int4[] tetVertexIndices', 'float3[] tetVertexIndices'),
    'a word for a number': text.replace('metersPerUnit = 1', 'metersPerUnit = one'),
  };
  for (const [what, wrong] of Object.entries(broken)) {
    check(wrong !== text, `${what} is as before`);
    const refused = await read(wrong);
    check(!refused.ok && refused.error.length > 0, `${path}, ${what}: not refused`);
  }
}
await end('usd');
