// SPDX-License-Identifier: MIT
// Builds the viewer: one HTML page without data, for page_text.cpp to fill in.
//
//   node build.mjs OUTPUT
import { build } from 'esbuild';
import { zlibSync } from 'fflate';
import { readFileSync, writeFileSync } from 'node:fs';

const here = (name) => new URL(`src/${name}`, import.meta.url).pathname;
const bundle = await build({
  entryPoints: [here('main.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2021',
  charset: 'ascii',
  legalComments: 'none',
  write: false,
});
// The packed script is a quarter as long as text. fflate packs the same bytes under every node.
const packed = zlibSync(new TextEncoder().encode(bundle.outputFiles[0].text), { level: 9, mem: 12 });
// A function as replacement: "$" in the texts means nothing.
const page = readFileSync(here('page.html'), 'utf8')
  .replace('/* style */', () => readFileSync(here('style.css'), 'utf8').trim())
  .replace('/* script */', () => Buffer.from(packed).toString('base64'));
writeFileSync(process.argv[2], page);
