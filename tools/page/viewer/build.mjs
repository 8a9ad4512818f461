// SPDX-License-Identifier: MIT
// Builds the viewer: one HTML page without data, for page_text.cpp to fill in.
//
//   node build.mjs OUTPUT
import { build } from 'esbuild';
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
// A function as replacement: "$" in the texts means nothing.
const page = readFileSync(here('page.html'), 'utf8')
  .replace('/* style */', () => readFileSync(here('style.css'), 'utf8'))
  .replace('/* script */', () => bundle.outputFiles[0].text.replaceAll('</script', '<\\/script').trim());
writeFileSync(process.argv[2], page);
