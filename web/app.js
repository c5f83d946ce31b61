// SPDX-License-Identifier: GPL-3.0-or-later
// The page is a form whose fields are options of dlest, and views of the JSON
// that the engine prints. It chooses units and draws; all figures are dlest's.

import { back, front } from './client.js';
import { forgetComparison, showDetails, wireTabs } from './details.js';
import {
  $,
  digits,
  drawMessages,
  el,
  gridLines,
  interval,
  onAxis,
  show,
  showTime,
  strip,
  svg,
  table,
} from './draw.js';
import {
  addressChanged,
  commandLine,
  drawExtras,
  files,
  fixed,
  form,
  listed,
  NOT_HERE,
  put,
  readAddress,
  settings,
  showPhase,
  words,
  writeAddress,
} from './inputs.js';
import { drawLogs, logForm, logs } from './logs.js';

// --- the answer

const NO_MODEL = $('about-arch').textContent;
let answer = null; // the JSON of the last estimate
let wanted = 0,
  running = false,
  timer;

function changed() {
  wanted++;
  $('answer').setAttribute('aria-busy', 'true');
  clearTimeout(timer);
  timer = setTimeout(estimate, 120);
}

async function estimate() {
  if (running) return;
  running = true;
  for (let turn = -1; turn !== wanted;) {
    turn = wanted;
    const given = settings();
    $('command').textContent = commandLine(['predict', ...words(given)]);
    const result = await front.json(['predict', ...words(given)], files);
    if (turn === wanted) take(given, result);
  }
  running = false;
  performance.mark('answer');
  $('answer').setAttribute('aria-busy', 'false');
}

// Why a method that nobody asked for gives no estimate stands among the methods.
const NO_ESTIMATE = /^dlest: warning: [\w-]+: no estimate /;

function take(given, { json, stderr }) {
  const said = stderr.split('\n');
  const about = json ? said.filter((line) => !NO_ESTIMATE.test(line)) : said;
  drawMessages($('messages'), about.join('\n'));
  $('results').classList.toggle('stale', !json);
  $('screen').inert = $('details').inert = !json;
  if (!json) {
    $('title').textContent = $('brief').textContent = 'No estimate';
    $('about-arch').textContent = NO_MODEL;
    $('live').textContent = stderr;
    return;
  }
  answer = json;
  if (given.length > 0 && (location.search || wanted > 0)) writeAddress(given);
  drawAnswer(json);
  showDetails(json, said.filter((line) => NO_ESTIMATE.test(line)));
}

// The figure of a line with its interval, as numbers.
function spreadOf(label, json) {
  const best = json.estimates.find((e) => e.method === json.recommended);
  const bound = json.node?.boundaries?.findLast(
    (b) => b.estimate === json.recommended && b.energy_j !== null,
  );
  const of = bound || best;
  if (label === 'Time')
    return [best.duration_s, best.duration_low_s, best.duration_high_s];
  if (label === 'Power') return [of.power_w, of.power_low_w, of.power_high_w];
  return ['Energy', 'Facility', 'CO2e', 'Cost'].includes(label)
    ? [of.energy_j, of.low_j, of.high_j]
    : [];
}

const link = (text, name) =>
  el(
    'button',
    { type: 'button', class: 'link', onclick: () => fixed.get(name).focus() },
    text,
  );

function drawLine({ label, figure, interval: range, remark }, json) {
  const missing = {
    CO2e: [
      link('set a country', 'country'),
      ' or ',
      link('cloud region', 'cloud'),
    ],
    Cost: [link('set a price', 'price')],
  };
  return el(
    'div',
    { class: label === 'Energy' ? 'line main' : 'line' },
    el('dt', {}, label),
    el('dd', { class: 'figure' }, figure || '-'),
    el(
      'dd',
      { class: 'drawn' },
      strip(figure ? spreadOf(label, json) : [], label),
    ),
    figure
      ? [
          el('dd', { class: 'range' }, range || ''),
          el('dd', { class: 'remark' }, remark || ''),
        ]
      : el('dd', { class: 'missing' }, missing[label]),
  );
}

const NOTES = ['Assumed', 'Basis', 'Better'];

function drawAnswer(json) {
  const best = json.estimates?.find((e) => e.method === json.recommended);
  const lines = best ? json.summary.lines : [];
  const figures = lines.filter(({ label }) => !NOTES.includes(label));
  for (const label of best ? ['CO2e', 'Cost'] : [])
    if (!figures.some((line) => line.label === label)) figures.push({ label });
  $('title').textContent = json.summary?.title || 'Estimates';
  $('lines').replaceChildren(...figures.map((line) => drawLine(line, json)));
  $('notes').replaceChildren(
    ...NOTES.flatMap((label) => {
      const line = lines.find((each) => each.label === label);
      return !line
        ? []
        : el(
            'div',
            { class: 'note' },
            el('dt', {}, label),
            el(
              'dd',
              {},
              label === 'Assumed' && listed.options.size > 0
                ? json.assumed.map((name) => assumedChip(name, json))
                : line.figure,
            ),
          );
    }),
  );
  for (const field of form.querySelectorAll('[data-value]')) {
    const value = json[field.dataset.value];
    field.placeholder = value ?? '';
  }
  if (!best) return drawSweep(json);
  const params =
    json.params_m &&
    (json.params_m < 1000
      ? `${digits(json.params_m)} million parameters`
      : `${digits(json.params_m / 1000)} billion parameters`);
  const macs = json.macs_g && `${digits(json.macs_g)} GMAC forward`;
  $('about-arch').textContent =
    [params, macs].filter(Boolean).join(', ') || NO_MODEL;
  const [{ figure }] = lines;
  $('brief').textContent = `${figure}, ${lines[0].interval || ''}`;
  document.title = `${figure}: ${json.summary.title}`;
  $('live').textContent = figures
    .filter((line) => line.figure)
    .map((line) => `${line.label} ${line.figure}, ${line.interval || ''}`)
    .join('. ');
}

// Lists of values, as ?gpu=a100,t4, have an estimate for each combination.
function drawSweep(json) {
  const rows = json.estimates.filter((e) => e.recommended);
  $('title').textContent = `${rows.length} estimates`;
  $('brief').textContent = $('title').textContent;
  $('about-arch').textContent = NO_MODEL;
  $('lines').replaceChildren(
    el(
      'div',
      {},
      table(
        'Estimates',
        ['model', 'GPU', 'GPUs', 'batch', 'energy', 'interval', 'time'],
        rows.map((e) => [
          e.arch,
          e.gpu,
          e.n_gpus,
          e.batch_size,
          show('energy', e.energy_j),
          interval('energy', e.low_j, e.high_j),
          showTime(e.duration_s),
        ]),
      ),
    ),
  );
}

// A button with an assumed value, which makes it a setting of its own.
function assumedChip(column, json) {
  const option = [...listed.options.values()].find((o) => o.column === column);
  const value = json[column];
  const name = option ? option.option : column;
  return el(
    'button',
    {
      type: 'button',
      class: 'chip',
      onclick: () => {
        const field = option
          ? put(name, `${value ?? ''}${option.value === 'TIME' ? 's' : ''}`)
          : put('set', `${column}=${value}`);
        changed();
        field.focus();
        field.select?.();
      },
    },
    name.replaceAll(/[-_]/g, ' '),
    ' ',
    el(
      'b',
      {},
      typeof value === 'number' && value >= 1e6
        ? digits(value, 6)
        : `${value ?? 'set'}`,
    ),
    option?.unit && ` ${option.unit}`,
  );
}

// --- files

const IS_MODEL = /\.(onnx|json|xml)$/i,
  IS_SETTINGS = /\.(ya?ml|sh|sbatch)$/i;

// A model's file becomes --arch, one of settings --from, others are logs.
async function takeFiles(list) {
  const read = await Promise.all(
    [...list].map(async (file) => [
      file.name,
      new Uint8Array(await file.arrayBuffer()),
    ]),
  );
  const found = [];
  for (const [name, bytes] of read) {
    const head = new TextDecoder().decode(bytes.slice(0, 1 << 16));
    const isConfig =
      /\.json$/i.test(name) &&
      /"(model_type|architectures|_class_name)"/.test(head);
    const isQuery = /\.json$/i.test(name) && /"resultType"/.test(head);
    if (isQuery || (!IS_MODEL.test(name) && !IS_SETTINGS.test(name))) {
      logs[name] = bytes;
      found.push('logs');
      continue;
    }
    files[name] = bytes;
    forgetComparison();
    found.push('estimate');
    const own = /<accelerator/.test(head) ? 'gpu' : 'arch';
    put(
      (/\.json$/i.test(name) && !isConfig) || IS_SETTINGS.test(name)
        ? 'from'
        : own,
      name,
    );
  }
  location.hash = found.at(-1) || location.hash;
  if (found.includes('estimate')) changed();
  if (found.includes('logs')) drawLogs(read.map(([name]) => name));
}

function wireFiles() {
  for (const [button, input] of [
    ['open', 'file'],
    ['open-logs', 'log-files'],
  ]) {
    $(button).onclick = () => $(input).click();
    $(input).onchange = () => {
      takeFiles($(input).files).then(() => {
        $(input).value = '';
      });
    };
  }
  ondragover = (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  };
  ondragleave = () => document.body.classList.remove('dropping');
  ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    takeFiles(event.dataTransfer.files);
  };
}

// --- the rest of the page

function showView() {
  const logsShown = location.hash === '#logs';
  $('estimate').hidden = logsShown;
  $('logs').hidden = !logsShown;
  for (const a of document.querySelectorAll('nav a'))
    if ((a.hash === '#logs') === logsShown)
      a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    $('live').textContent = 'Copied';
    const before = $('state').textContent;
    if (before !== 'Copied')
      setTimeout(() => ($('state').textContent = before), 1500);
    $('state').textContent = 'Copied';
  } catch {
    $('live').textContent = 'The browser does not allow copying';
  }
}

function wire() {
  form.addEventListener('submit', (event) => event.preventDefault());
  logForm.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    if (target.name === 'phase') showPhase();
    if (target.id !== 'add') changed();
  });
  for (const field of logForm.querySelectorAll('[data-option]'))
    field.addEventListener('change', () => drawLogs());
  const add = () => {
    const name = $('add').value.trim().replace(/^--/, '');
    if (!listed.options.has(name)) return;
    $('add').value = '';
    put(name, '').focus();
    changed();
  };
  $('add-button').onclick = add;
  $('add').onchange = add;
  wireTabs();
  document.body.addEventListener('click', ({ target }) => {
    if (target.dataset.copy) copy($(target.dataset.copy).textContent);
  });
  $('copy-link').onclick = () => {
    writeAddress(settings());
    copy(location.href);
  };
  onhashchange = showView;
  // Where the form hides the answer, its first line stays in sight.
  new IntersectionObserver(([{ isIntersecting }]) => {
    $('brief').hidden = isIntersecting;
  }).observe($('screen'));
  onpopstate = () => {
    if (!addressChanged()) return;
    readAddress();
    changed();
  };
}

const fill = (id, pairs) =>
  $(id).append(
    ...pairs.map(([value, label]) =>
      el('option', { value, label: label === value ? null : label }),
    ),
  );

async function loadLists() {
  const ours = await back.list('options', 'predict');
  listed.options = new Map(
    ours.filter((o) => !NOT_HERE.includes(o.option)).map((o) => [o.option, o]),
  );
  listed.comparable = new Set(
    (await back.list('options', 'recommend')).map((o) => o.option),
  );
  fill(
    'list-options',
    [...listed.options.values()]
      .filter((o) => !fixed.has(o.option))
      .map((o) => [o.option, o.summary]),
  );
  for (const name of ['precision', 'fine-tune'])
    document.body.append(
      el(
        'datalist',
        { id: `list-${name}` },
        listed.options
          .get(name)
          .words.split('|')
          .map((word) => el('option', { value: word })),
      ),
    );
  drawExtras();
  if (answer) drawAnswer(answer);
  for (const kind of ['archs', 'gpus', 'datasets', 'grids', 'sites'])
    fill(
      `list-${kind}`,
      (await back.list(kind, '--columns', 'id,name')).map(({ id, name }) => [
        id,
        name,
      ]),
    );
  listed.nodes = await back.list('nodes');
  fill(
    'list-nodes',
    listed.nodes.map(({ id, name }) => [id, name]),
  );
  listed.formats = (await back.list('formats')).map(({ name }) => name);
  if (answer) showDetails(answer);
}

async function start() {
  wire();
  wireFiles();
  $('scale').append(
    ...gridLines(),
    ...[0.5, 1, 2].map((ratio) =>
      svg(
        'text',
        {
          x: onAxis(ratio),
          y: 11,
          'text-anchor': 'middle',
        },
        ratio === 0.5 ? '\u00bd\u00d7' : `${ratio}\u00d7`,
      ),
    ),
  );
  readAddress();
  showView();
  showPhase();
  await estimate();
  $('waiting').remove();
  $('state').textContent = answer ? `dlest ${answer.dlest}` : 'dlest';
  await loadLists();
  if ('serviceWorker' in navigator && location.protocol !== 'file:') {
    await navigator.serviceWorker.register('sw.js');
    await navigator.serviceWorker.ready;
    $('state').textContent += ', works offline';
  }
}

start();
