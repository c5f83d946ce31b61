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

// Files of one run are drawn together: `fresh` ones alone where they are of another
// run than those before, or a table of epochs.
export async function drawLogs(fresh = []) {
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
  const project = ['step', ...names, ...words(given)],
    draw = ['plot', 'trace', ...names, ...words(length)];
  const run = await back.json(['extract', ...names], logs);
  if (run.status !== 0 && fresh.length > 0 && fresh.length < names.length) {
    for (const name of names) if (!fresh.includes(name)) delete logs[name];
    return drawLogs();
  }
  const data = await back.json(draw, logs);
  const step = projects ? await back.json(project, logs) : null;
  if (names.join() !== Object.keys(logs).join()) return;
  // No run can be extracted from a table of epochs, which is read all the same.
  const isTable = run.status !== 0 && data.json?.epochs.length > 0;
  const measured = isTable ? draw : ['extract', ...names];
  $('log-command').textContent = commandLine(projects ? project : measured);
  const messages = new Set(
    [isTable ? null : run, data, step].flatMap((result) =>
      result ? result.stderr.split('\n') : [],
    ),
  );
  drawMessages($('log-messages'), [...messages].join('\n'));
  if (!projects)
    $('log-messages').append(
      el(
        'p',
        { class: 'about' },
        'With the planned epochs: the rest of the training, its emissions and cost.',
      ),
    );
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
