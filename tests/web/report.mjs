// SPDX-License-Identifier: MIT
// Works every control of reports in a browser: each must change the state in the link and the
// picture, and the console must stay free of errors.
//
//   node report.mjs CHROMIUM REPORT.html COMPARE.html INDEX.html SHEET.png... [--pictures FOLDER]
import { readFileSync } from 'node:fs';
import { cameraOf, changes, check, end, fragment, open, picture, settled, start, stateOf } from './pages.mjs';

const [executablePath, report, compare, index, ...rest] = process.argv.slice(2);
const at = rest.indexOf('--pictures'), pictures = at < 0 ? null : rest.splice(at, 2)[1];
await start(executablePath);
const shoot = (page, name) => (pictures ? page.screenshot({ path: `${pictures}/${name}.png` }) : null);

const page = await open(report);
const first = Number(await page.evaluate(() => document.documentElement.dataset.ready));
console.log(`first picture after ${first} ms`);
check((await picture(page)).share > 0.02, 'the first picture is empty');
await shoot(page, 'surface');
const controls = await page.evaluate(() => [...document.querySelectorAll('#controls [id], #playback [id], header [id]')]
  .filter((e) => ['BUTTON', 'SELECT', 'INPUT'].includes(e.tagName)).map((e) => e.id));
const worked = new Set();
const work = (id, what, action) => { worked.add(id); return changes(page, what, action); };
const click = (id) => work(id, `a click on ${id}`, () => page.click(`#${id}`));
const select = (id, value) => work(id, `${id} ${value}`, () => page.selectOption(`#${id}`, value));
const fill = (id, value) => work(id, `${id} ${value}`, () => page.fill(`#${id}`, value));

// What is shown.
await page.click('#cage');
await click('surface');
await click('surface');
await page.click('#cage');
for (const id of ['cage', 'edges', 'patches', 'pins', 'mass', 'ruler', 'figure']) {
  await click(id);
  if (id === 'figure') check((await page.textContent('#labels')).includes('1.7 m'), 'the figure has no label');
  if (id === 'ruler') check(/\d m/.test(await page.textContent('#labels')), 'the ruler has no label');
  await click(id);
}
for (const id of ['front', 'right', 'top']) await click(id);
await page.locator('#canvas').press('-');
await page.locator('#canvas').press('-');
await click('frame-model');

// Colours: a picture and a legend each.
const modes = await page.locator('#colour option').evaluateAll((options) => options.map((o) => o.value));
for (const mode of modes.filter((m) => !['base', 'strain', 'contact'].includes(m))) {
  await select('colour', mode);
  check((await page.textContent('#legend')).length > 3, `colour ${mode}: no legend`);
}
await select('colour', 'quality');
check(/tet quality \[1 = regular tet\]01/.test(await page.textContent('#legend')), 'the legend of quality lacks unit or range');

// What is selected lights up and is framed.
await page.click('#front');
const all = await cameraOf(page);
const moved = async (what) => {
  const now = await cameraOf(page);
  check(now.distance < 0.9 * all.distance || Math.hypot(...now.target.map((x, k) => x - all.target[k])) > 0.02, `${what}: the camera does not frame it`);
};
const nearer = async (what) => check((await cameraOf(page)).distance < 0.9 * all.distance, `${what}: the camera does not come nearer`);
const bar = '.bars button[aria-label*=" tets from"]:not([title="0 tets"])';
await changes(page, 'a bar of the histogram', () => page.click(`${bar} >> nth=0`, { force: true }));
await nearer('a bar');
check(/bin=\d+/.test(await fragment(page)), 'a bar is not in the link');
await changes(page, 'the bar again', () => page.click('.bars button[aria-pressed=true]', { force: true }));
for (const kind of ['name', 'material', 'region']) {
  const button = page.locator(`#panels button[data-select^="${kind}."]`).last();
  await changes(page, `a ${kind}`, () => button.click());
  await moved(`a ${kind}`);
  check(await button.getAttribute('aria-pressed') === 'true', `a ${kind} is not marked as selected`);
}
await click('clear');
check((await stateOf(page)).get('select') === null, 'something stays selected');
await changes(page, 'a part', () => page.click('#panels button[data-select^="part."]'));
await page.keyboard.press('Escape');
check((await stateOf(page)).get('select') === null, 'Escape does not clear the selection');
await changes(page, 'worst tet', () => page.click('#worst'));
check(/tet \d+: quality/.test(await page.textContent('#picked')), 'the worst tet is not named');
await nearer('the worst tet');
await page.click('#clear');
await changes(page, 'a click on a tet', () => page.locator('#canvas').click({ position: { x: 430, y: 280 } }));
check(/tet \d+: quality/.test(await page.textContent('#picked')), 'a click names no tet');
await page.click('#clear');

for (const axis of ['x', 'y', 'z']) await select('cut', axis);
await fill('at', '0.3');
await select('cut', 'x');
await shoot(page, 'cut');
await page.selectOption('#cut', 'off');
await fill('explode', '0.8');
await page.fill('#explode', '0');
await select('theme', 'dark');
check(await page.evaluate(() => document.documentElement.dataset.theme) === 'dark', 'the theme stays');
await select('theme', 'light');
await changes(page, 'arrow key', () => page.locator('#canvas').press('ArrowLeft'));
await changes(page, 'key +', () => page.keyboard.press('+'));
await changes(page, 'dragging', async () => {
  const b = await page.locator('#canvas').boundingBox();
  await page.mouse.move(b.x + 300, b.y + 200); await page.mouse.down(); await page.mouse.move(b.x + 420, b.y + 230); await page.mouse.up();
});

// Facts.
const panels = await page.textContent('#panels');
for (const title of ['Settings', 'Figures and provenance', 'Size by section', 'Stages of the bake', 'Mass by part', 'Simulation']) check(panels.includes(title), `no panel "${title}"`);
check(/^plush bake .*bear\.glb -o bear\.plush --tets 400 -q --young 4e4/.test(await page.textContent('#command', { timeout: 2000 }).catch(() => '')), 'the command line of the bake is not shown');

// Playback.
await page.selectOption('#colour', 'base');
await select('show', 'motion');
await fill('scrub', '60');
worked.add('forward');
await changes(page, 'frame forward', async () => { for (let i = 0; i < 4; ++i) await page.click('#forward'); });
await click('back');
await changes(page, 'key .', () => page.locator('#canvas').press('.'));
await click('deepest');
await select('colour', 'strain');
check(/strain.*\[%\]025/.test(await page.textContent('#legend')), 'strain has no scale');
await shoot(page, 'strain');
await select('colour', 'contact');
await click('contacts');
await changes(page, 'a click into a plot', () => page.locator('.plot').first().click({ position: { x: 60, y: 40 } }));
// Slowly, so that the end, where a click plays from the start, is not reached on a busy machine.
worked.add('speed');
const speed = await fragment(page);
await page.selectOption('#speed', '0.1');
check(await fragment(page) !== speed, 'speed: the state stays');
worked.add('play');
await page.fill('#scrub', '20');
await changes(page, 'play', async () => {
  const link = await fragment(page);
  await page.click('#play');
  await page.waitForFunction((old) => location.hash !== old, link);
  await page.click('#play');
});
check(await page.textContent('#play') === 'Play', 'it still plays');
const plot = () => page.evaluate(() => [...document.querySelectorAll('.plot')].at(-1).toDataURL());
const budget = await plot();
worked.add('budget');
await page.fill('#budget', '5');
check(await plot() !== budget, 'the budget does not show in the plot');

// Copies: without a clipboard the picture is saved and the link shown.
worked.add('copy-picture');
const download = page.waitForEvent('download', { timeout: 5000 }).catch(() => null);
await page.click('#copy-picture');
await page.waitForFunction(() => /copied|saved/.test(document.getElementById('copy-picture').textContent));
check((await page.textContent('#copy-picture')).includes('copied') || await download, 'the picture is neither copied nor saved');
worked.add('copy-link');
let told = '';
page.on('dialog', (dialog) => { told = dialog.defaultValue(); dialog.dismiss(); });
await page.click('#copy-link');
const copied = async () => (await page.textContent('#copy-link')).includes('copied') || told.includes('#');
for (let i = 0; i < 50 && !await copied(); ++i) await page.waitForTimeout(100);
check(await copied(), 'the link is neither copied nor shown');
for (const id of controls) check(worked.has(id), `the control ${id} was not worked`);

// The link brings back state and camera.
await settled(page);
const link = await fragment(page), shown = await picture(page);
const again = await open(report, {}, link);
await settled(again);
check((await picture(again)).hash === shown.hash, 'the link does not bring the picture back');
check(await fragment(again) === link, 'the link changes when it is opened');
await again.close();

const narrow = await open(report, { viewport: { width: 400, height: 800 }, colorScheme: 'dark' });
const small = await picture(narrow);
check(small.width <= 400, `at 400 pixels the page is ${small.width} wide`);
check(small.share > 0.02, 'at 400 pixels the picture is empty');
check(await narrow.evaluate(() => document.documentElement.dataset.theme) === 'dark', 'a dark system gets a light page');
await shoot(narrow, 'narrow');

// By keyboard alone: tab reaches every control, and the focus stays where a key was pressed.
const reached = new Set();
await narrow.focus('#theme');
for (let i = 0; i < 60; ++i) { await narrow.keyboard.press('Tab'); reached.add(await narrow.evaluate(() => document.activeElement.id)); }
for (const id of [...controls, 'canvas', 'worst']) check(id === 'theme' || reached.has(id), `tab does not reach ${id}`);
await narrow.focus('[data-finding="0"]');
await narrow.keyboard.press('Enter');
check(await narrow.evaluate(() => document.activeElement.dataset.finding) === '0', 'the focus leaves the finding that was chosen');
check((await stateOf(narrow)).get('finding') === '0', 'a finding is not chosen by keyboard');

const both = await open(compare);
check(await both.locator('#labels span').count() === 4, 'a sweep does not name four views');
check(/what differs/.test(await both.textContent('#panels')), 'a comparison has no table');
check(await both.locator('#panels h2', { hasText: 'what differs' }).count() === 3, 'a sweep does not compare each with the first');
await changes(both, 'linked cameras', () => both.click('#right'));
await both.selectOption('#colour', 'volume');
check(await both.locator('.bars').count() === 4, 'a comparison does not show a histogram of each');
const legend = await both.locator('#legend .ends span').allTextContents();
const volumes = await both.locator('#panels .ends span').allTextContents();
check(volumes.length === 8 && volumes.every((text, i) => text === legend[i % 2]), 'the bodies compared have scales of their own');
await changes(both, 'the worst of the last', () => both.click('#worst-3'));
check(/tet \d+ of /.test(await both.textContent('#picked')), 'the tet of a body compared is not named');
await both.click('#clear');
await shoot(both, 'compare');

const list = await open(index);
const names = () => list.locator('#index tr[data-row]').evaluateAll((rows) => rows.map((r) => r.dataset.row).join());
check((await list.textContent('#index tr[data-row] >> nth=0')).includes('broken'), 'failures do not come first');
check(await list.evaluate(() => [...document.querySelectorAll('#index canvas')].filter((c) => c.width > 1 && c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x)).length) === 2, 'the two good files have no thumbnails');
for (const column of await list.locator('[data-sort]').evaluateAll((all) => all.map((b) => b.dataset.sort))) {
  await list.click(`[data-sort="${column}"]`);
  const down = await names();
  await list.click(`[data-sort="${column}"]`);
  const same = await list.locator(`#index tr[data-row] td:nth-child(${Number(column) + 2})`).allTextContents();
  check(await names() !== down || new Set(same).size < 3, `sorting by column ${column} changes nothing`);
}
await changes(list, 'another file', () => list.locator('#index [data-file]').nth(1).click());
check(await list.evaluate(() => !window.broken), 'a name became code');
await shoot(list, 'index');

// Sheets of pictures: each picture of the first row shows something.
for (const sheet of rest) {
  const shares = await list.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const shareAt = (x) => {
      const pixels = context.getImageData(x, 8, 360, 270).data;
      let drawn = 0;
      for (let i = 0; i < pixels.length; i += 4) if (pixels[i] !== pixels[0] || pixels[i + 1] !== pixels[1]) drawn += 1;
      return drawn / (360 * 270);
    };
    return image.width === 1480 ? [0, 1, 2, 3].map((k) => shareAt(8 + 368 * k)) : [];
  }, `data:image/png;base64,${readFileSync(sheet, 'base64')}`);
  console.log(`${sheet}: shares of drawn pixels ${shares.map((s) => s.toFixed(2))}`);
  check(shares.length === 4 && shares.every((s) => s > 0.05), `${sheet} has empty pictures`);
}
await end('controls');
