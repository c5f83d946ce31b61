// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the page in a headless Chromium against the native command line. TAP.
//
// usage: check-page.mjs FOLDER DLEST DATADIR INPUTS [AXE]
//
// FOLDER holds the page; without dlest.wasm in it the native program stands for
// the engine. AXE is the path of axe.min.js (axe-core).

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { loadavg, cpus } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { Browser, runProgram, serve } from './browser.mjs';
import { difference, end, test } from './tap.mjs';

const MOST_BYTES = 1.1e6,
  MOST_SECONDS = 1;
const [folder, dlest, datadir, inputs, axe] = process.argv.slice(2);
const environment = { DLEST_DATADIR: datadir, OMP_NUM_THREADS: '1' };
const native = (args, files = []) =>
  runProgram(dlest, args, files, environment);
const hasEngine = existsSync(join(folder, 'dlest.wasm'));

const server = await serve(folder, hasEngine ? null : native);
const browser = await Browser.start(process.env.CHROMIUM || 'chromium');
await browser.size(1280, 800);

const DONE = `document.querySelector('#answer')?.ariaBusy === 'false'`;
const $ = (id) => `document.getElementById('${id}')`;
const LISTED = `${$('list-options')}.options.length > 0 &&
  ${$('list-nodes')}.options.length > 0`;

async function open(query = '', hash = '') {
  await browser.open('about:blank');
  await browser.open(`${server.origin}/some/folder/${query}${hash}`);
  await browser.until(DONE);
  await browser.until(LISTED);
}

const choose = (tab) => browser.value(`${$(`tab-${tab}`)}.click()`);

// --- the same figures

// Runs the command line that the page shows, with more words.
const shown = (more) =>
  browser
    .value(`${$('command')}.textContent`)
    .then((line) =>
      runProgram(
        '/bin/sh',
        ['-c', line.replace(/^dlest/, '"$DLEST"') + ' ' + more],
        [],
        { ...environment, DLEST: dlest },
      ),
    );

async function compare(query) {
  await browser.value(`(history.pushState(null, '', '?${query}'),
    dispatchEvent(new PopStateEvent('popstate')))`);
  await browser.until(DONE);
  const here = await browser.value(`{title: ${$('title')}.textContent,
    stale: ${$('results')}.classList.contains('stale'),
    messages: ${$('messages')}.innerText,
    json: ${$('as-json')}?.textContent, address: location.search}`);
  const there = await shown('--format json');
  const asked = new URLSearchParams(query),
    got = new URLSearchParams(here.address);
  const sorted = (pairs) => JSON.stringify([...pairs].sort());
  if (sorted(asked) !== sorted(got))
    return `${query}: the address became ${here.address}`;
  // Beside an answer those of other methods stand in another tab (checkSilent).
  const lines = (text) =>
    text
      .split('\n')
      .filter((line) => line && !(there.stdout && /: no estimate /.test(line)))
      .join('\n');
  if (lines(here.messages) !== lines(there.stderr))
    return `${query}: messages\n${here.messages}\n${there.stderr}`;
  if (!there.stdout)
    return here.stale && here.title === 'No estimate'
      ? null
      : `${query}: an answer where dlest has none`;
  const json = JSON.parse(there.stdout);
  if (!here.json) return `${query}: no JSON`;
  if (json.summary && json.summary.title !== here.title)
    return `${query}: title ${here.title}`;
  const found = difference(JSON.parse(here.json), json);
  return found && `${query}${found}`;
}

async function checkFigures() {
  const all = (await readFile(inputs, 'utf8'))
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  await open(`?${all[0]}`);
  await choose('export');
  const faults = [];
  for (const query of all) faults.push(await compare(query));
  console.log(`# ${all.length} inputs compared`);
  return faults.filter(Boolean).join('\n');
}

async function checkComparison() {
  await open('?arch=resnet50&gpu=a100&gpus=8&country=DE&price=0.3EUR');
  await choose('compare');
  await browser.until(`document.querySelectorAll('#compare tbody tr').length > 9
    && !!document.querySelector('#compare svg')`);
  const there = JSON.parse(
    (
      await native([
        'recommend',
        '--arch',
        'resnet50',
        '--gpus',
        '8',
        '--country',
        'DE',
        '--price',
        '0.3EUR',
        '--format',
        'json',
      ])
    ).stdout,
  );
  const here = await browser.value(`{
    title: document.querySelector('#compare figcaption').textContent,
    dots: document.querySelectorAll('#compare circle').length,
    front: document.querySelectorAll('#compare circle.front').length,
    heads: document.querySelector('#compare thead').innerText,
    first: document.querySelector('#compare tbody tr').innerText}`);
  const choices = there.choices.filter((c) => !c.excluded);
  if (here.title !== there.summary.title) return here.title;
  if (
    here.dots !== choices.length ||
    here.front !== choices.filter((c) => c.pareto).length
  )
    return `${here.dots} points, ${here.front} on the front`;
  if (!/CO2e\s+cost, EUR/.test(here.heads)) return here.heads;
  const { gpu, co2e_g, cost } = choices[0];
  return here.first.startsWith(gpu) &&
    here.first.includes((co2e_g / 1e3).toPrecision(3)) &&
    here.first.includes(cost.toPrecision(3))
    ? null
    : here.first;
}

// Why methods that nobody asked for give no estimate is said among the methods.
async function checkSilent() {
  await open(
    '?phase=inference&arch=llama-3-8b&gpu=h100&prompt-tokens=500&output-tokens=9',
  );
  await choose('methods');
  const [answer, methods] = await browser.value(
    `['messages', 'methods'].map((id) => document.getElementById(id).innerText)`,
  );
  return !answer.includes('no estimate') && methods.includes('no estimate')
    ? null
    : answer;
}

async function checkScreen() {
  await open('?arch=resnet50&gpu=a100&gpus=8&country=DE&price=0.3EUR');
  const there = JSON.parse((await shown('--format json')).stdout);
  const rows = await browser.value(`[...document.querySelectorAll(
    '#lines .line')].map((line) => [...line.querySelectorAll(
    'dt, .figure, .range')].map((e) => e.textContent).filter(Boolean))`);
  const expected = there.summary.lines
    .slice(0, rows.length)
    .map((line) => [line.label, line.figure, line.interval]);
  if (JSON.stringify(rows) !== JSON.stringify(expected))
    return JSON.stringify(rows);
  const drawn = await browser.value(
    `document.querySelectorAll('#lines .strip .dot').length`,
  );
  return drawn === 5 ? null : `${drawn} intervals drawn`;
}

// --- files

async function give(input, path) {
  const { root } = await browser.send('DOM.getDocument');
  const { nodeId } = await browser.send('DOM.querySelector', {
    nodeId: root.nodeId,
    selector: `#${input}`,
  });
  await browser.send('DOM.setFileInputFiles', { nodeId, files: [path] });
}

async function checkModelFile() {
  await open('?gpu=t4');
  const path = join(datadir, 'data/examples/tiny-cnn.onnx');
  await give('file', path);
  await browser.until(`${$('title')}.textContent.includes('tiny') && ${DONE}`);
  await choose('export');
  await browser.until(`!!${$('as-json')}`);
  const here = JSON.parse(await browser.value(`${$('as-json')}.textContent`));
  const there = JSON.parse(
    (
      await native(
        [
          'predict',
          '--gpu',
          't4',
          '--arch',
          'tiny-cnn.onnx',
          '--format',
          'json',
        ],
        [['tiny-cnn.onnx', await readFile(path)]],
      )
    ).stdout,
  );
  return difference(here, there);
}

async function checkLog() {
  await open('', '#logs');
  const path = join(datadir, 'data/examples/gpu-7.csv');
  await browser.value(`${$('log-epochs')}.value = '90'`);
  await give('log-files', path);
  await browser.until(`!!document.querySelector('#log-trace svg') &&
    document.querySelectorAll('#log-epochs-table tbody tr').length > 0`);
  const there = JSON.parse(
    (await native(['step', path, '--epochs', '90', '--format', 'json'])).stdout,
  );
  const here = await browser.value(`{title: ${$('log-title')}.textContent,
    epochs: document.querySelectorAll('#log-epochs-table tbody tr').length,
    whole: ${$('log-lines')}.querySelector('.main').innerText}`);
  const whole = there.summary.lines.find((line) => line.label === 'Whole');
  if (here.title !== there.summary.title || here.epochs !== there.epochs_seen)
    return JSON.stringify(here);
  return [whole.figure, whole.interval].every((text) =>
    here.whole.includes(text),
  )
    ? null
    : here.whole;
}

// A table with one row per epoch, as CodeCarbon's emissions.csv may be, takes the
// place of a log before it, which it cannot be joined with.
async function checkEpochTable() {
  await open('', '#logs');
  await give('log-files', join(datadir, 'data/examples/gpu-7.csv'));
  await browser.until(`!!document.querySelector('#log-trace svg')`);
  const drawn = `document.querySelectorAll('#log-epochs-table tbody tr').length`;
  const before = await browser.value(drawn);
  const path = join(datadir, 'data/examples/epochs.csv');
  await browser.value(`${$('log-epochs')}.value = '50'`);
  await give('log-files', path);
  await browser.until(`${drawn} > 0 && ${drawn} !== ${before} &&
    ${$('log-lines')}.children.length > 0`);
  const { epochs } = JSON.parse(
    (await native(['plot', 'trace', path, '--format', 'json'])).stdout,
  );
  const said = await browser.value(`${$('log-messages')}.innerText`);
  const rows = await browser.value(drawn);
  return rows === epochs.length && !said ? null : `${rows} epochs, ${said}`;
}

// --- settings that are assumed

async function checkAssumed() {
  await open('?arch=resnet50&gpu=a100');
  const named = `[...document.querySelectorAll('.chip')]
    .map((chip) => chip.textContent)`;
  const chips = await browser.value(named);
  if (!chips.includes('batch size 256') || !chips.includes('epochs 90'))
    return chips.join(', ');
  await browser.value(`[...document.querySelectorAll('.chip')].find((chip) =>
    chip.textContent.startsWith('batch size')).focus()`);
  await browser.key('Enter');
  if ((await browser.value(`document.activeElement.id`)) !== 'batch-size')
    return 'the field has no focus';
  await browser.type('64');
  await browser.until(`location.search.includes('batch-size=64') && ${DONE}`);
  const rest = await browser.value(named);
  return rest.some((text) => text.startsWith('batch size'))
    ? rest.join()
    : null;
}

// --- keyboard

const FOCUSED = `(() => {
  const e = document.activeElement;
  return e === document.body ? 'body' : e.id || e.name || e.textContent;
})()`;
// What can be reached by Tab: of radio buttons and tabs one each.
const REACHABLE = `[...document.querySelectorAll('a[href], button, input, ' +
    '[tabindex="0"]')].filter((e) => e.checkVisibility() && e.tabIndex >= 0 &&
    !(e.type === 'radio' && !e.checked)).map((e) =>
    e.id || e.name || e.textContent)`;

async function checkReach(tab) {
  if (tab) await choose(tab);
  await browser.until(DONE);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const expected = new Set(await browser.value(REACHABLE));
  await browser.value(`(document.activeElement.blur(), scrollTo(0, 0))`);
  const reached = new Set();
  for (let i = 0; i < 3 * expected.size + 20; i++) {
    await browser.key('Tab');
    reached.add(await browser.value(FOCUSED));
  }
  const missed = [...expected].filter((name) => !reached.has(name));
  return missed.length > 0 ? `not reached: ${missed.join(', ')}` : null;
}

async function checkKeys() {
  await open('?arch=resnet50&gpu=a100');
  const focus = (id) => browser.value(`${$(id)}.focus()`);
  await browser.send('Browser.grantPermissions', {
    permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'],
  });
  await focus('gpus');
  await browser.type('8');
  await browser.until(`location.search.includes('gpus=8')`);
  await browser.value(`document.querySelector('[name=phase]').focus()`);
  await browser.key('ArrowRight');
  await browser.until(`location.search.includes('phase=inference') && ${DONE}`);
  await browser.key('ArrowLeft');
  await browser.until(`!location.search.includes('phase') && ${DONE}`);
  await focus('add');
  await browser.type('optimizer');
  await browser.key('Tab');
  await browser.until(`!!${$('extra-0')}`);
  await focus('extra-0');
  await browser.type('sgd');
  await browser.until(`location.search.includes('optimizer=sgd') && ${DONE}`);
  await browser.key('Tab');
  await browser.key('Enter');
  await browser.until(`!location.search.includes('optimizer') && ${DONE}`);
  for (const tab of ['compare', 'methods', 'sources', 'export']) {
    await browser.value(
      `document.querySelector('[aria-selected=true]').focus()`,
    );
    await browser.key('ArrowRight');
    await browser.until(`!${$(tab)}.hidden && ${$(`tab-${tab}`)} ===
      document.activeElement`);
  }
  await browser.value(`document.querySelector('[data-copy=command]').focus()`);
  await browser.key('Enter');
  await browser.until(`${$('live')}.textContent === 'Copied'`);
  await browser.send('Page.setInterceptFileChooserDialog', { enabled: true });
  for (const [view, id] of [
    ['', 'open'],
    ['logs', 'open-logs'],
  ]) {
    await browser.value(`location.hash = '${view}'`);
    const opened = browser.event('Page.fileChooserOpened');
    await browser.until(`${$(id)}.checkVisibility()`);
    await focus(id);
    await browser.key('Enter');
    await opened;
  }
  await browser.send('Page.setInterceptFileChooserDialog', { enabled: false });
  return null;
}

// --- accessibility and layout

async function checkAxe() {
  if (!axe || !existsSync(axe)) return { skip: 'no axe-core' };
  const source = await readFile(axe, 'utf8');
  const faults = [];
  const look = async (where) => {
    await browser.send('Runtime.evaluate', { expression: source });
    const found = await browser.value(`(await axe.run()).violations.map((v) =>
      v.id + ': ' + v.nodes.map((n) => n.target + ' ' +
      n.failureSummary.split('\\n')[1]).join('; '))`);
    faults.push(...found.map((fault) => `${where}: ${fault}`));
  };
  for (const scheme of ['light', 'dark']) {
    await browser.media('', scheme);
    await open('?arch=resnet50&gpu=a100&gpus=8&optimizer=sgd&country=DE');
    for (const tab of ['parts', 'compare', 'methods', 'sources', 'export']) {
      await choose(tab);
      await browser.until(`${$(tab)}.children.length > 0 &&
        !document.querySelector('.stale, #compare > p:only-child')`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await look(`${scheme}, ${tab}`);
    }
    await open('?arch=resnet5');
    await look(`${scheme}, error`);
    await checkLog();
    await look(`${scheme}, logs`);
  }
  await browser.media('', 'light');
  return faults.join('\n');
}

async function checkNarrow() {
  const faults = [];
  const wide = async (where) => {
    const width = await browser.value('document.documentElement.scrollWidth');
    if (width > 360) faults.push(`${where}: ${width} px`);
  };
  await browser.size(360, 740);
  await open(
    '?arch=llama-2-7b&gpu=h100&gpus=8&tokens=1e9&country=DE&price=1EUR',
  );
  for (const tab of ['parts', 'compare', 'methods', 'sources', 'export']) {
    await choose(tab);
    await browser.until(`${$(tab)}.children.length > 0`);
    await wide(tab);
  }
  await checkLog();
  await wide('logs');
  await browser.size(1280, 800);
  await open('?arch=resnet50&gpu=a100&gpus=8&country=DE&price=0.3EUR');
  const end = await browser.value(
    `${$('answer')}.getBoundingClientRect().bottom`,
  );
  if (end > 800) faults.push(`the answer ends at ${end} px of 800`);
  await browser.media('print', 'light');
  if (
    await browser.value(`${$('form')}.checkVisibility() ||
      !${$('lines')}.checkVisibility()`)
  )
    faults.push('print shows the form, or no answer');
  await browser.media('', 'light');
  return faults.join('\n');
}

// --- loading

async function checkSpeed() {
  if (!hasEngine) return { skip: 'no WebAssembly engine' };
  const busy = loadavg()[0] > cpus().length / 2;
  const seconds = [];
  for (let i = 0; i < 3; i++) {
    await browser.open('about:blank');
    await browser.open(`${server.origin}/some/folder/?arch=resnet50&gpu=a100`);
    await browser.until(DONE);
    seconds.push(
      await browser.value(`performance.getEntriesByName(
      'answer')[0].startTime / 1000`),
    );
  }
  console.log(
    `# first answer after ${seconds.map((s) => s.toFixed(2)).join(', ')} s`,
  );
  if (Math.min(...seconds) <= MOST_SECONDS) return null;
  return busy
    ? { skip: `the machine is busy (load ${loadavg()[0].toFixed(1)})` }
    : `more than ${MOST_SECONDS} s`;
}

async function checkSize() {
  if (!hasEngine) return { skip: 'no WebAssembly engine' };
  let all = 0,
    plain = 0;
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name));
    plain += bytes.length;
    all += brotliCompressSync(bytes).length;
  }
  console.log(`# ${plain} bytes, ${all} as brotli`);
  return all <= MOST_BYTES ? null : `more than ${MOST_BYTES}`;
}

async function checkOffline() {
  if (!hasEngine) return { skip: 'no WebAssembly engine' };
  await open('?arch=resnet50&gpu=a100');
  await browser.until(`${$('state')}.textContent.includes('offline')`);
  server.close();
  await open('?arch=vgg16&gpu=t4');
  const title = await browser.value(`${$('title')}.textContent`);
  return title.startsWith('VGG-16 on') ? null : title;
}

await test('the figures are those of the command line', checkFigures);
await test('the answer is that of the screen, with intervals', checkScreen);
await test('the comparison is that of recommend', checkComparison);
await test('messages of methods', checkSilent);
await test('an ONNX file', checkModelFile);
await test('a power log', checkLog);
await test('a table of epochs', checkEpochTable);
await test('assumed values can be set', checkAssumed);
await test('the keyboard operates everything', checkKeys);
await test('Tab reaches everything on the form and in the parts', async () => {
  await open('?arch=resnet50&gpu=a100&gpus=8&optimizer=sgd');
  return checkReach('parts');
});
for (const tab of ['compare', 'methods', 'sources', 'export'])
  await test(`Tab reaches everything in ${tab}`, () => checkReach(tab));
await test('axe-core finds nothing', checkAxe);
await test('360 px, one screen and print', checkNarrow);
await test('the first answer within a second', checkSpeed);
await test('compressed size', checkSize);
await test('no errors in the console', () => browser.errors.join('\n'));
await test('no request leaves the origin', () =>
  [...browser.origins]
    .filter((origin) => origin !== server.origin && origin !== 'null')
    .join());
await test('without a network', checkOffline);
await browser.close();
server.close();
end();
