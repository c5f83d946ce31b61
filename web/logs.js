// SPDX-License-Identifier: GPL-3.0-or-later
// Power logs: their trace, epochs and projection.

import { back } from './client.js';
import {
  $,
  digits,
  drawMessages,
  el,
  show,
  showTime,
  table,
  trace,
} from './draw.js';
import { commandLine, words } from './inputs.js';

export const logs = {}; // contents by name
export const logForm = $('log-form');

export async function drawLogs() {
  const names = Object.keys(logs);
  $('log-names').replaceChildren(
    ...names.map((name) =>
      el(
        'li',
        {},
        name,
        ' ',
        el(
          'button',
          {
            type: 'button',
            'aria-label': `Remove ${name}`,
            onclick: () => {
              delete logs[name];
              drawLogs();
              $('open-logs').focus();
            },
          },
          'Remove',
        ),
      ),
    ),
  );
  for (const id of [
    'log-lines',
    'log-messages',
    'log-trace',
    'log-epochs-table',
    'log-run',
  ])
    $(id).replaceChildren();
  $('log-command-box').hidden = names.length === 0;
  $('log-title').textContent = names.length > 0 ? 'Power log' : 'No log yet';
  if (names.length === 0) return;
  const given = [...logForm.querySelectorAll('[data-option]')]
    .filter((field) => field.value.trim())
    .map((field) => [field.dataset.option, field.value.trim()]);
  const length = given.filter(([name]) => name === 'epoch-length');
  const projects = given.some(([name]) => name === 'epochs');
  const command = projects
    ? ['step', ...names, ...words(given)]
    : ['extract', ...names];
  $('log-command').textContent = commandLine(command);
  const run = await back.json(['extract', ...names], logs);
  const data = await back.json(
    ['plot', 'trace', ...names, ...words(length)],
    logs,
  );
  const step = projects ? await back.json(command, logs) : null;
  if (names.join() !== Object.keys(logs).join()) return;
  const messages = new Set(
    [run, data, step].flatMap((result) =>
      result ? result.stderr.split('\n') : [],
    ),
  );
  drawMessages($('log-messages'), [...messages].join('\n'));
  if (step?.json?.summary) {
    $('log-title').textContent = step.json.summary.title;
    $('log-lines').replaceChildren(
      ...step.json.summary.lines.map((line) =>
        el(
          'div',
          { class: line.label === 'Whole' ? 'line main' : 'line' },
          el('dt', {}, line.label),
          el('dd', { class: 'figure' }, line.figure),
          el('dd', { class: 'range' }, line.interval || ''),
          el('dd', { class: 'remark' }, line.remark || ''),
        ),
      ),
    );
  }
  if (data.json?.trace.length || data.json?.epochs.length) {
    $('log-trace').append(el('h3', {}, data.json.title));
    $('log-trace').append(
      trace($('log-trace'), data.json),
      el(
        'p',
        { class: 'about' },
        el('span', { class: 'key front' }, 'power'),
        ' ',
        el('span', { class: 'key current' }, 'mean of each epoch'),
        data.json.n_stable ? '; shaded: epochs of the steady state' : '',
      ),
    );
    if (data.json.epochs.length > 0)
      $('log-epochs-table').append(
        table(
          'Epochs',
          ['epoch', 'begins at', 'time', 'energy', 'mean power'],
          data.json.epochs.map((e, i) => [
            `${i}`,
            showTime(e.start_s),
            showTime(e.duration_s),
            show('energy', e.energy_j),
            show('power', e.power_w),
          ]),
        ),
      );
  }
  const runs = run.json?.runs || [];
  if (runs.length > 0)
    $('log-run').append(
      table(
        'Runs',
        [
          'run',
          'GPU',
          'GPUs',
          'time',
          'energy',
          'mean GPU power',
          'boundary',
          'missing',
          'format',
        ],
        runs.map((r) => [
          r.run_id,
          r.gpu,
          r.n_gpus,
          showTime(r.duration_s),
          show('energy', r.energy_j),
          show('power', r.gpu_power_w),
          r.boundary,
          r.missing === null ? '-' : `${digits(100 * r.missing, 2)} %`,
          r.format,
        ]),
      ),
    );
  $('live').textContent = $('log-title').textContent;
}
