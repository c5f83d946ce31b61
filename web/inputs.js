// SPDX-License-Identifier: GPL-3.0-or-later
// The options of dlest as inputs: fields of the form, rows for all others, the
// address and the command line.

import { $, el } from './draw.js';

export const form = $('form');
export const fixed = new Map(
  [...form.querySelectorAll('input[name]')].map((field) => [field.name, field]),
);
// Makes the page estimate anew after a change that is no typing.
export const announce = () => form.dispatchEvent(new Event('input'));
export const phases = [...form.querySelectorAll('[name=phase]')];
// Options that say how results are written, or read tables.
export const NOT_HERE = [
  'all',
  'explain',
  'format',
  'output',
  'quiet',
  'strict',
  'help',
  'usage',
  'version',
  'spreadsheet-safe',
  'parts',
  'input',
  'model',
  'known',
  'alias',
  'define',
  'phase',
];
const LISTS = {
  arch: 'archs',
  gpu: 'gpus',
  dataset: 'datasets',
  node: 'nodes',
  country: 'grids',
  cloud: 'sites',
  site: 'sites',
};
// What the engine lists: options of predict by name, names of options of
// recommend, names of formats, computers.
export const listed = {
  options: new Map(),
  comparable: new Set(),
  formats: [],
  nodes: [],
};
let extras = []; // {name, value}
export const files = {}; // contents by name

const takesValue = ({ name, value }) =>
  listed.options.has(name)
    ? listed.options.get(name).value !== null
    : value !== '';

export function settings() {
  const shown = [...fixed.values()].filter(
    (field) =>
      field.type !== 'radio' &&
      field.value.trim() &&
      !field.closest('[data-phase][hidden]'),
  );
  const phase = phases.find((radio) => radio.checked).value;
  return [
    ...shown.map((field) => [field.name, field.value.trim()]),
    ...(phase ? [['phase', phase]] : []),
    ...extras
      .filter((row) => !takesValue(row) || row.value.trim())
      .map((row) => [row.name, row.value.trim()]),
  ];
}

export const words = (given) =>
  given.flatMap(([name, value]) =>
    value === ''
      ? [`--${name}`]
      : value.startsWith('-')
        ? [`--${name}=${value}`]
        : [`--${name}`, value],
  );
const quoted = (word) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
export const commandLine = (args) => ['dlest', ...args].map(quoted).join(' ');

export function showPhase() {
  const phase = phases.find((radio) => radio.checked).value;
  for (const box of form.querySelectorAll('[data-phase]'))
    box.hidden = box.dataset.phase !== phase;
}

export function drawExtras() {
  $('extra').replaceChildren(
    ...extras.map((row, i) => {
      const about = listed.options.get(row.name),
        id = `extra-${i}`;
      const list = LISTS[row.name]
        ? `list-${LISTS[row.name]}`
        : about?.words && `words-${row.name}`;
      return el(
        'div',
        { class: 'field wide with-button', title: about?.summary },
        el('label', { for: id }, row.name.replaceAll('-', ' ')),
        takesValue(row) || !about
          ? el('input', {
              id,
              list,
              value: row.value,
              placeholder: about?.value,
              oninput: (event) => {
                row.value = event.target.value;
              },
            })
          : el('output', { id }, 'on'),
        list?.startsWith('words') &&
          el(
            'datalist',
            { id: list },
            about.words.split('|').map((word) => el('option', { value: word })),
          ),
        el(
          'button',
          {
            type: 'button',
            'aria-label': `Remove ${row.name}`,
            onclick: () => {
              extras.splice(i, 1);
              drawExtras();
              announce();
              $('add').focus();
            },
          },
          'Remove',
        ),
        about && el('p', { class: 'about' }, about.summary),
      );
    }),
  );
}

// Gives an option a value; returns its field.
export function put(name, value) {
  const field = fixed.get(name);
  const radio = phases.find(
    (each) =>
      name === 'phase' && each.value === (value === 'training' ? '' : value),
  );
  if (radio) {
    radio.checked = true;
    showPhase();
    return radio;
  }
  if (
    field &&
    field.type !== 'radio' &&
    !field.closest('[data-phase][hidden]') &&
    (!field.value || !extras.loading)
  ) {
    field.value = value;
    return field;
  }
  extras.push({ name, value });
  drawExtras();
  return $(`extra-${extras.length - 1}`);
}

let readOrWritten = null; // the options in the address

// A change of the view alone changes no option.
export const addressChanged = () => location.search !== readOrWritten;

export function readAddress() {
  readOrWritten = location.search;
  const given = [...new URLSearchParams(location.search)];
  for (const field of fixed.values())
    if (field.type !== 'radio') field.value = '';
  phases[0].checked = true;
  showPhase();
  extras = [];
  extras.loading = true;
  given.sort(([a], [b]) => (b === 'phase') - (a === 'phase'));
  for (const [name, value] of given) put(name, value);
  extras.loading = false;
  if (given.length === 0)
    [
      ['arch', 'resnet50'],
      ['gpu', 'a100'],
    ].forEach(([k, v]) => put(k, v));
}

export function writeAddress(given) {
  const query = new URLSearchParams(given)
    .toString()
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/');
  history.replaceState(null, '', `?${query}${location.hash}`);
  readOrWritten = location.search;
}
