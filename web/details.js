// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs below the answer: parts, comparison, methods, sources, exports.

import { back } from './client.js';
import {
  $,
  bars,
  digits,
  drawMessages,
  el,
  interval,
  pareto,
  show,
  showTime,
  table,
  textBlock,
} from './draw.js';
import {
  announce,
  commandLine,
  files,
  fixed,
  listed,
  put,
  settings,
  words,
} from './inputs.js';

let current = null, // the JSON of the estimate that is shown
  silent = []; // messages of methods without one

const PART_NAMES = {
  gpu_busy: 'GPUs busy',
  cpu_busy: 'CPUs busy',
  gpu_idle: 'GPUs idle',
  cpu: 'CPUs',
  memory: 'memory',
  rest: 'rest of the node',
  supply: 'power supply',
  cooling: 'cooling',
};

function nodeBars(json) {
  const parts = json.node.parts.filter(
    (part) => part.energy_j > 0 && part.estimate === json.recommended,
  );
  return bars(
    `Energy by part of the node ${json.node.id || ''}`,
    parts.map((part) => ({
      name: PART_NAMES[part.part] || part.part,
      x: part.energy_j,
      text: show('energy', part.energy_j),
      about:
        `${digits(100 * part.share)} %, ${show('power', part.power_w)}, ` +
        part.from,
    })),
  );
}

async function drawParts(box, json) {
  const served = json.served,
    figures = [];
  if (json.node) figures.push(nodeBars(json));
  const work = (served?.work || []).filter((part) => part.part !== 'all');
  if (work.length > 0)
    figures.push(
      bars(
        'Energy by kind of work',
        work.map((part) => ({
          name: part.part,
          x: part.energy_j,
          text: show('energy', part.energy_j),
          about: `${digits(100 * part.share)} %, ${showTime(part.duration_s)}`,
        })),
      ),
    );
  const parts = (json.parts?.length ? json.parts : served?.parts) || [];
  const whole = parts.find((part) => part.part === 'epoch');
  if (parts.length > 0)
    figures.push(
      bars(
        whole
          ? `Time per epoch, ${showTime(whole.seconds)}: each part alone`
          : 'Time by part',
        parts
          .filter((part) => part !== whole && part.seconds > 0)
          .map((part) => ({
            name: part.part,
            x: part.seconds,
            text: showTime(part.seconds),
            about: part.what,
          })),
      ),
    );
  const before = json.node ? null : box.querySelector('.example');
  before?.classList.add('stale');
  box.replaceChildren(...figures, ...(before ? [before] : []));
  const example = json.node ? null : await drawExample(json);
  if (current !== json) return;
  box.querySelector('.example')?.remove();
  box.append(...(example ? [example] : []));
  if (!box.firstChild)
    box.append(
      el('p', { class: 'about' }, 'dlest has no parts of this estimate.'),
    );
}

// The energy of a whole computer with these GPUs, where the catalogue has one.
async function drawExample(json) {
  const n = json.n_gpus;
  const same = listed.nodes.filter((node) => node.gpu === json.gpu);
  const node =
    same.find((each) => each.gpus >= n) ||
    same.find((each) => n % each.gpus === 0);
  if (!node) return null;
  const given = settings().filter(([name]) => !['gpu', 'gpus'].includes(name));
  const within = [...given, ['node', node.id], ['gpus', `${n}`]];
  const whole = await back.json(['predict', ...words(within)], files);
  if (!whole.json?.node) return null;
  const choose = () => {
    put('node', node.id);
    fixed.get('gpus').value = `${n}`;
    fixed.get('gpu').value = '';
    announce();
  };
  return el(
    'div',
    { class: 'example' },
    nodeBars(whole.json),
    el(
      'p',
      { class: 'about' },
      `An example: ${node.name}. `,
      el(
        'button',
        { type: 'button', class: 'link', onclick: choose },
        'Estimate the whole node',
      ),
    ),
  );
}

function drawMethods(box, json) {
  const rows = json.estimates.filter(
    (e) => e.energy_j !== null && e.recommended !== false,
  );
  const messages = el('div');
  drawMessages(messages, silent.join('\n'));
  box.replaceChildren(
    bars(
      'Energy by method',
      rows.map((e) => ({
        name: e.method,
        x: e.energy_j,
        low: e.low_j,
        high: e.high_j,
        text: show('energy', e.energy_j),
        mark: e.method === json.recommended ? 'best' : null,
        about: interval('energy', e.low_j, e.high_j),
      })),
    ),
    table(
      'Estimates of all methods',
      [
        'method',
        'energy',
        'interval',
        'power',
        'time',
        'boundary',
        'time from',
        'outside the training data',
      ],
      rows.map((e) => [
        e.method,
        show('energy', e.energy_j),
        interval('energy', e.low_j, e.high_j),
        show('power', e.power_w),
        showTime(e.duration_s),
        e.boundary,
        e.duration_from,
        e.extrapolates.join(', ') || '-',
      ]),
    ),
    messages,
  );
}

// The work of a dropped ONNX model by layer.
async function addLayers(box, json) {
  const arch = fixed.get('arch').value.trim();
  if (!files[arch] || !/\.onnx$/i.test(arch)) return;
  const { json: model } = await back.json(['describe', arch], files);
  if (model && current === json)
    box.append(
      table(
        `Layers of ${arch} by work`,
        ['layer', 'operator', 'output', 'GMAC', 'share', 'parameters'],
        model.layers
          .toSorted((a, b) => b.macs_g - a.macs_g)
          .slice(0, 12)
          .map((layer) => [
            layer.name,
            layer.op,
            layer.output,
            digits(layer.macs_g),
            `${digits(100 * layer.share)} %`,
            `${digits(layer.params_m)} M`,
          ]),
      ),
    );
}

function drawSources(box, json) {
  const given = new Set(settings().map(([name]) => name));
  const rows = [...listed.options.values()].filter(
    (o) =>
      o.column && o.column !== 'epoch_s' && (json[o.column] ?? null) !== null,
  );
  const place = [
    [
      'carbon intensity',
      json.intensity_g_kwh,
      'g/kWh',
      json.intensity_of,
      json.intensity_source,
      json.intensity_note,
    ],
    ['PUE', json.pue, '', json.pue_of, json.pue_source, json.pue_note],
  ];
  box.replaceChildren(
    table(
      'Settings',
      ['setting', 'value', 'unit', 'from'],
      rows.map((o) => [
        o.option.replaceAll('-', ' '),
        `${json[o.column]}`,
        o.unit || '',
        given.has(o.option)
          ? 'given'
          : json.assumed?.includes(o.column)
            ? 'assumed'
            : 'default or derived',
      ]),
    ),
    table(
      'Sources',
      ['figure', 'value', 'unit', 'of', 'source', 'note'],
      [
        ...(json.sources || []).map((s) => [
          s.figure,
          s.value,
          s.unit,
          s.of,
          s.source,
          s.note,
        ]),
        ...place.filter((row) => row[1] !== null),
      ],
    ),
  );
  addLayers(box, json);
}

const FORMATS = {
  card: 'Lines for a model card',
  paper: 'Paragraph for a paper',
  'paper-latex': 'Paragraph in LaTeX',
  markdown: 'Markdown',
};

async function drawExport(box, json) {
  const args = ['predict', ...words(settings())];
  const texts = Object.keys(FORMATS).filter((format) =>
    listed.formats.includes(format),
  );
  const last = (id) => $(id)?.textContent || '';
  box.replaceChildren(
    ...texts.map((format) =>
      textBlock(`as-${format}`, FORMATS[format], last(`as-${format}`)),
    ),
    textBlock('as-json', 'JSON', JSON.stringify(json, null, 1)),
  );
  for (const format of texts) {
    const { stdout, stderr } = await back.run(
      [...args, '--format', format, '-q'],
      files,
    );
    if (current !== json) return;
    $(`as-${format}`).textContent = stdout || stderr;
  }
}

// --- comparison of GPUs

let lastArgs, lastComparison; // of which another width is another drawing

function compared(args) {
  const key = args.join('\0');
  if (key !== lastArgs) lastComparison = back.json(args, files);
  lastArgs = key;
  return lastComparison;
}

async function drawCompare(box, json) {
  const given = settings();
  const taken = given.filter(
    ([name]) =>
      !['gpu', 'node', 'use-gpus', 'cpu', 'sockets'].includes(name) &&
      listed.comparable.has(name),
  );
  const dropped = given.filter(([name]) => !listed.comparable.has(name));
  const args = ['recommend', ...words(taken)];
  if (box.firstChild) box.classList.add('stale');
  else box.append(el('p', { class: 'about' }, 'Comparing all GPUs'));
  const result = await compared(args);
  if (current !== json || $('compare').hidden) return;
  box.classList.remove('stale');
  const choices = (result.json?.choices || []).filter((c) => !c.excluded);
  const messages = el('div');
  drawMessages(messages, result.stderr);
  if (choices.length === 0) return box.replaceChildren(messages);
  const lowest = new Map(); // of each GPU, and the front
  for (const c of choices)
    if (c.pareto || !lowest.has(c.gpu)) lowest.set(c.pareto ? c : c.gpu, c);
  const shown = [...new Set(lowest.values())];
  const [has] = choices; // all have the same figures
  const row = (c) =>
    Object.assign(
      [
        c.gpu,
        c.batch_size,
        c.precision,
        show('energy', c.energy_j),
        interval('energy', c.energy_low_j, c.energy_high_j),
        showTime(c.duration_s),
        c.bound_by,
        c.memory_need_gb && `${digits(c.memory_need_gb)} GB`,
        ...(has.co2e_g ? [show('mass', c.co2e_g)] : []),
        ...(has.cost ? [digits(c.cost)] : []),
        c.pareto ? 'front' : c.overlaps ? 'overlaps' : '-',
        el(
          'button',
          {
            type: 'button',
            'aria-label': `Use ${c.gpu} with batch ` + `size ${c.batch_size}`,
            onclick: () => {
              put('gpu', c.gpu);
              put('batch-size', `${c.batch_size}`);
              if (c.precision) put('precision', c.precision);
              announce();
            },
          },
          'Use',
        ),
      ],
      { mark: c.pareto ? 'best' : null },
    );
  const heads = [
    'GPU',
    'batch',
    'precision',
    'energy',
    'interval',
    'time',
    'limit',
    'memory',
    ...(has.co2e_g ? ['CO2e'] : []),
    ...(has.cost ? [`cost, ${result.json.currency}`] : []),
    'Pareto',
    'choose',
  ];
  const plot = el('figure');
  const list = (n) =>
    table(
      'Lowest energy of each GPU, and the Pareto front',
      heads,
      shown.slice(0, n).map(row),
    );
  const all = el(
    'button',
    {
      type: 'button',
      onclick: () => {
        box.querySelector('.table').replaceWith(list(Infinity));
        all.remove();
      },
    },
    `Show all ${shown.length} rows`,
  );
  box.replaceChildren(
    plot,
    list(12),
    ...(shown.length > 12 ? [all] : []),
    el(
      'p',
      { class: 'about' },
      'Command: ',
      el('code', {}, commandLine(args)),
      dropped.length > 0
        ? `. Not compared by: ${dropped
            .map(([name]) => `--${name}`)
            .join(', ')}.`
        : '.',
    ),
    messages,
  );
  plot.append(
    el('figcaption', {}, result.json.summary.title),
    pareto(plot, choices, json.gpu),
    el(
      'p',
      { class: 'about' },
      `${choices.length} choices of GPU, batch size ` +
        'and precision; overlaps: as good within the intervals. ',
      el('span', { class: 'key front' }, 'Pareto front'),
      ' ',
      el('span', { class: 'key current' }, json.gpu),
    ),
  );
}

const TABS = {
  parts: drawParts,
  compare: drawCompare,
  methods: drawMethods,
  sources: drawSources,
  export: drawExport,
};
const tabs = [...$('tabs').children];
const panelOf = (tab) => $(tab.getAttribute('aria-controls'));

function drawTab() {
  const panel = tabs.map(panelOf).find((each) => !each.hidden);
  if (!current) return;
  if (current.summary || ['compare', 'export'].includes(panel.id))
    TABS[panel.id](panel, current);
  else
    panel.replaceChildren(
      el(
        'p',
        { class: 'about' },
        'With several values of a setting this is not shown.',
      ),
    );
}

export function showDetails(json, why = silent) {
  current = json;
  silent = why;
  drawTab();
}

export function forgetComparison() {
  lastArgs = null;
}

function chooseTab(chosen) {
  for (const tab of tabs) {
    tab.setAttribute('aria-selected', String(tab === chosen));
    tab.tabIndex = tab === chosen ? 0 : -1;
    panelOf(tab).hidden = tab !== chosen;
  }
  drawTab();
}

export function wireTabs() {
  for (const tab of tabs) tab.onclick = () => chooseTab(tab);
  $('tabs').onkeydown = (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1 + tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    chooseTab(tabs[to % tabs.length]);
    tabs[to % tabs.length].focus();
  };
  let width = $('tabs').clientWidth;
  new ResizeObserver(() => {
    if (width !== $('tabs').clientWidth && !$('compare').hidden) drawTab();
    width = $('tabs').clientWidth;
  }).observe($('tabs'));
}
