// SPDX-License-Identifier: MIT
// Three tasks of a new user, with what is to be seen on the page: each may take at most four clicks,
// and at two seconds for each click, and the page's own time, less than a minute.
//
//   node tasks.mjs CHROMIUM OCTOPUS.html DIRTY.html DROP.html
import { cameraOf, check, end, open, start, stateOf } from './pages.mjs';

const [executablePath, octopus, dirty, drop] = process.argv.slice(2);
await start(executablePath);

async function task(name, file, action) {
  const begin = performance.now();
  const page = await open(file);
  let clicks = 0;
  const click = async (selector) => {
    check(await page.locator(selector).first().isVisible(), `${name}: ${selector} is not to be seen`);
    await page.locator(selector).first().click();
    clicks += 1;
  };
  const found = await action(page, click);
  const seconds = (performance.now() - begin) / 1000;
  console.log(`${name}: ${found}; ${clicks} clicks, ${seconds.toFixed(1)} s of the page`);
  check(clicks <= 4, `${name}: ${clicks} clicks`);
  check(2 * clicks + seconds < 60, `${name}: more than a minute`);
  await page.close();
}

const data = (page) => page.evaluate(() => JSON.parse(document.getElementById('data').textContent));

await task('the worst tet of the octopus', octopus, async (page, click) => {
  await click('button:has-text("Go to the worst tet")');
  const text = await page.textContent('#picked');
  const least = (await data(page)).models[0].info.simulation.min_quality;
  check(Math.abs(Number(/quality ([\d.]+)/.exec(text)?.[1]) - least) < 1e-3, `"${text}" has not the least quality ${least}`);
  check((await cameraOf(page)).distance < 1, 'the camera is not at the worst tet');
  return text;
});

await task('the reason of a finding of a dirty mesh', dirty, async (page, click) => {
  await click('.finding:has-text("MESH_OPEN_BOUNDARY")');
  check((await stateOf(page)).get('finding') !== null, 'the finding is not in the link');
  const place = (await data(page)).models[0].findings.find((f) => f.code === 'MESH_OPEN_BOUNDARY').places[0].position;
  const { target, distance } = await cameraOf(page);
  check(Math.hypot(...place.map((x, k) => x - target[k])) < 0.3 * distance, `the camera looks at ${target}, the place is ${place}`);
  const reason = await page.textContent('details[open]');
  check(/Why it matters/.test(reason) && /In Blender/.test(reason) && /In Maya/.test(reason), 'the reason is not to be seen');
  return reason.slice(0, 120);
});

await task('the moment of deepest penetration in a drop', drop, async (page, click) => {
  await click('button:has-text("Deepest penetration")');
  const { motion } = await data(page), depths = motion.per_step.penetration_m.map((d) => d ?? 0);
  const step = 1 + depths.indexOf(Math.max(...depths)), text = await page.textContent('#time');
  check(Math.abs(Number(/step (\d+)/.exec(text)?.[1]) - step) <= 1, `"${text}" is not step ${step}`);
  check((await stateOf(page)).get('show') === 'motion', 'the simulation is not shown');
  return `${text}, ${Math.max(...depths)} m`;
});
await end('tasks');
