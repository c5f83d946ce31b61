// SPDX-License-Identifier: GPL-3.0-or-later
// Times the engine of the web page beside the program, and prints its sizes:
//   node bench/web.mjs DLEST WEB [REPEATS]
// Runs alternate; every comparison is a ratio of medians. The first run includes
// what the engine compiles then. On a busy machine the engine's time on the CPU, which
// is printed beside, is what a reader waits for on a free one.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [dlest, web, repeats = '7'] = process.argv.slice(2);
const COMMANDS = {
  predict: ['predict', '--arch', 'resnet50', '--gpu', 'a100', '--format', 'json', '--quiet'],
  recommend: ['recommend', '--arch', 'resnet50', '--format', 'json', '--quiet'],
};

async function timed(f) {
  const start = performance.now(), used = process.cpuUsage();
  const result = await f();
  const { user, system } = process.cpuUsage(used);
  return [performance.now() - start, result, (user + system) / 1e3];
}

function native(args) {
  const { status, stdout } = spawnSync(dlest, args, {
    encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  return { status, stdout };
}

function median(times) {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

// Node.js takes a module by its name's end.
const folder = mkdtempSync(join(tmpdir(), 'dlest-web-'));
copyFileSync(join(web, 'engine.js'), join(folder, 'engine.mjs'));
const engine = await import(join(folder, 'engine.mjs'));
rmSync(folder, { recursive: true });

const [ready] = await timed(() => engine.prepare(
  readFileSync(join(web, 'dlest.wasm')), readFileSync(join(web, 'dlest-data.txt'))));
console.log(`web: ready in ${ready.toFixed(0)} ms`);
for (const [name, args] of Object.entries(COMMANDS)) {
  const times = { web: [], cpu: [], native: [] };
  const [first] = await timed(() => engine.run(args));
  for (let i = 0; i < Number(repeats); i++) {
    const [here, ours, cpu] = await timed(() => engine.run(args));
    const [there, theirs] = await timed(() => native(args));
    if (ours.status !== 0 || theirs.status !== 0)
      throw new Error(`${name}: ${ours.stderr}`);
    times.web.push(here);
    times.cpu.push(cpu);
    times.native.push(there);
  }
  const [ours, theirs] = [median(times.web), median(times.native)];
  console.log(`web: ${name}: ${ours.toFixed(0)} ms, ${median(times.cpu).toFixed(0)} ms on the CPU, `
    + `the program ${theirs.toFixed(0)} ms, ratio ${(ours / theirs).toFixed(2)}; first ${first.toFixed(0)} ms`);
}
