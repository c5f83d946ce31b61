// SPDX-License-Identifier: GPL-3.0-or-later
// Elements, quantities with units, and drawings. Nothing here has a state.

export const $ = (id) => document.getElementById(id);

function make(space, name, attributes, children) {
  const e = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value !== false && value != null)
      e.setAttribute(key, value === true ? '' : value);
  e.append(
    ...children
      .flat(Infinity)
      .filter((child) => child != null && child !== false),
  );
  return e;
}
export const el = (name, attributes = {}, ...children) =>
  make('http://www.w3.org/1999/xhtml', name, attributes, children);
export const svg = (name, attributes = {}, ...children) =>
  make('http://www.w3.org/2000/svg', name, attributes, children);

// --- numbers, as dlest shows them

export function digits(x, n = 3) {
  if (x === null || x === undefined) return '-';
  if (x === 0) return '0';
  if (Math.abs(x) >= 1e9 || Math.abs(x) < 1e-4)
    return x.toExponential(n - 1).replace('e+', 'e');
  const rounded = Number(x.toPrecision(n));
  if (Math.abs(rounded) >= 1e4) return rounded.toLocaleString('en-US');
  return Math.abs(rounded) >= 10 ** n ? `${rounded}` : x.toPrecision(n);
}

// Units of a quantity: from which value on, its factor and its name.
const UNITS = {
  energy: [
    [0, 1, 'J'],
    [1e3, 1e3, 'kJ'],
    [3.6e3, 3.6e6, 'kWh'],
    [3.6e9, 3.6e9, 'MWh'],
    [3.6e12, 3.6e12, 'GWh'],
  ],
  mass: [
    [0, 1, 'g'],
    [1e3, 1e3, 'kg'],
    [1e6, 1e6, 't'],
  ],
  power: [
    [0, 1, 'W'],
    [1e4, 1e3, 'kW'],
    [1e7, 1e6, 'MW'],
  ],
};
const unitOf = (kind, x) => UNITS[kind].findLast(([from]) => x >= from);

export function show(kind, x, n) {
  if (x === null || x === undefined) return '-';
  const [, factor, name] = unitOf(kind, x);
  return `${digits(x / factor, n)} ${name}`;
}

export function interval(kind, low, high) {
  if (low === null || low === undefined) return '-';
  const [, factor, name] = unitOf(kind, high);
  const n = high > 1.5 * low ? 2 : 3;
  return `${digits(low / factor, n)} to ${digits(high / factor, n)} ${name}`;
}

export function showTime(s) {
  if (s === null || s === undefined) return '-';
  if (s < 60)
    return s > 0 && s < 1 ? `${digits(s * 1e3)} ms` : `${digits(s)} s`;
  const of = (unit, parts) => [
    Math.floor(Math.round(s / unit) / parts),
    Math.round(s / unit) % parts,
  ];
  const two = (n) => String(n).padStart(2, '0');
  const [minutes, seconds] = of(1, 60),
    [hours, rest] = of(60, 60);
  const [days, more] = of(3600, 24);
  if (minutes < 60) return `${minutes} min ${two(seconds)} s`;
  if (hours < 24) return `${hours} h ${two(rest)} min`;
  return days < 365 ? `${days} d ${more} h` : `${digits(s / 3.15576e7)} y`;
}

// --- the interval of a figure

// Position of a ratio to the estimate on the common axis, in percent.
export const onAxis = (ratio) =>
  Math.max(0, Math.min(100, 50 + (Math.log2(ratio) * 50) / 2.2)) + '%';
const GRID = [0.25, 0.5, 1, 2, 4];
export const gridLines = () =>
  GRID.map((ratio) =>
    svg('line', {
      class: 'grid',
      x1: onAxis(ratio),
      x2: onAxis(ratio),
      y1: 0,
      y2: '100%',
    }),
  );

export function strip([x, low, high], label) {
  const drawn = x > 0 && low > 0 && high > 0;
  return svg(
    'svg',
    {
      class: 'strip',
      role: drawn ? 'img' : null,
      'aria-hidden': drawn ? null : 'true',
      'aria-label': drawn
        ? `${label}: interval from ${digits(low / x, 2)} to ` +
          `${digits(high / x, 2)} times the estimate`
        : null,
    },
    gridLines(),
    drawn && [
      svg('line', {
        class: 'range',
        x1: onAxis(low / x),
        x2: onAxis(high / x),
        y1: '50%',
        y2: '50%',
      }),
      svg('circle', { class: 'dot', cx: onAxis(1), cy: '50%', r: 4.5 }),
    ],
  );
}

// --- tables, bars and texts

export function table(caption, heads, rows) {
  const numeric = heads.map(
    (_, i) =>
      rows.length > 0 &&
      rows.every(
        (row) =>
          typeof row[i] === 'number' ||
          /^(-$|[\d,.]+( |$))/.test(row[i] ?? '-'),
      ),
  );
  const cell = (name, content, i, more = {}) =>
    el(name, { ...more, class: numeric[i] ? 'n' : null }, content ?? '-');
  return el(
    'div',
    { class: 'table', role: 'region', tabindex: 0, 'aria-label': caption },
    el(
      'table',
      {},
      el('caption', {}, caption),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          heads.map((head, i) => cell('th', head, i, { scope: 'col' })),
        ),
      ),
      el(
        'tbody',
        {},
        rows.map((row) =>
          el(
            'tr',
            { class: row.mark },
            row.map((content, i) => cell('td', content, i)),
          ),
        ),
      ),
    ),
  );
}

// Rows of {name, x, text, about}, with low and high where there is an interval.
export function bars(title, rows) {
  const top = Math.max(
    ...rows.map((row) => Math.max(row.x, Math.min(row.high || 0, 3 * row.x))),
  );
  const at = (x) => `${Math.min(100, (100 * x) / top)}%`;
  return el(
    'figure',
    { class: 'bars' },
    el('figcaption', {}, title),
    el(
      'ul',
      {},
      rows.map((row) =>
        el(
          'li',
          { class: row.mark },
          el('span', { class: 'name' }, row.name),
          svg(
            'svg',
            { 'aria-hidden': 'true' },
            svg('rect', { x: 0, y: '20%', width: at(row.x), height: '60%' }),
            row.high &&
              svg('line', {
                class: 'range',
                x1: at(row.low),
                x2: at(row.high),
                y1: '50%',
                y2: '50%',
              }),
          ),
          el('span', { class: 'text' }, row.text),
          el('span', { class: 'about' }, row.about || ''),
        ),
      ),
    ),
  );
}

const copyButton = (id) =>
  el('button', { type: 'button', 'data-copy': id }, 'Copy');

export function textBlock(id, title, text) {
  return el(
    'section',
    { class: 'block' },
    el('h3', { id: `${id}-title` }, title),
    copyButton(id),
    el(
      'pre',
      { id, tabindex: 0, role: 'region', 'aria-labelledby': `${id}-title` },
      text,
    ),
  );
}

// --- energy against time, and power over time

// Ticks of a logarithmic axis in a unit: 1, 2 and 5 times powers of ten.
function ticks(low, high, most) {
  const all = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
    all.push(...[1, 2, 5].map((m) => m * 10 ** power));
  const seen = all.filter((x) => x >= low * 0.999 && x <= high * 1.001);
  return seen.length > most
    ? seen.filter((x) =>
        Number.isInteger(Math.round(Math.log10(x) * 1e6) / 1e6),
      )
    : seen;
}

const SECONDS = [
  1, 10, 60, 600, 3600, 10800, 36000, 86400, 259200, 864000, 2592000, 8640000,
  31557600, 315576000,
];
const round = (x) => Math.round(x * 10) / 10;

export function pareto(box, choices, current) {
  const width = Math.max(300, box.clientWidth),
    height = width < 500 ? 260 : 340;
  const left = 64,
    right = width - 12,
    bottom = height - 40,
    top = 12;
  const scale = (key, from, to) => {
    const all = choices.map((c) => Math.log(c[key]));
    const low = Math.min(...all) - 0.1,
      high = Math.max(...all) + 0.1;
    const at = (x) =>
      round(from + ((Math.log(x) - low) / (high - low)) * (to - from));
    return Object.assign(at, { low: Math.exp(low), high: Math.exp(high) });
  };
  const x = scale('duration_s', left, right),
    y = scale('energy_j', bottom, top);
  const factor = unitOf('energy', y.low)[1],
    unit = unitOf('energy', y.low)[2];
  const front = choices
    .filter((c) => c.pareto)
    .sort((a, b) => a.duration_s - b.duration_s);
  const named = []; // of the front, those whose names have room
  for (const c of front) {
    const at = [x(c.duration_s), y(c.energy_j)];
    if (
      !named.some(
        (other) =>
          Math.abs(other.at[1] - at[1]) < 13 &&
          Math.abs(other.at[0] - at[0]) < 110,
      )
    )
      named.push({ c, at });
  }
  const rank = (c) => (c.pareto ? 2 : c.gpu === current ? 1 : 0);
  const times = SECONDS.filter((s) => s > x.low && s < x.high);
  const dot = (c) =>
    svg(
      'circle',
      {
        cx: x(c.duration_s),
        cy: y(c.energy_j),
        r: [2, 4, 5][rank(c)],
        class: ['', 'current', 'front'][rank(c)],
      },
      svg(
        'title',
        {},
        `${c.gpu}, batch size ${c.batch_size}: ` +
          `${show('energy', c.energy_j)}, ${showTime(c.duration_s)}`,
      ),
    );
  return svg(
    'svg',
    {
      class: 'plot',
      width,
      height,
      role: 'img',
      'aria-label':
        `Energy against time of ${choices.length} choices; on the ` +
        `Pareto front: ${front.map((c) => c.gpu).join(', ')}`,
    },
    ticks(y.low / factor, y.high / factor, 7).map((v) => [
      svg('line', {
        class: 'grid',
        x1: left,
        x2: right,
        y1: y(v * factor),
        y2: y(v * factor),
      }),
      svg(
        'text',
        { x: left - 6, y: y(v * factor) + 4, 'text-anchor': 'end' },
        `${v >= 1 ? v.toLocaleString('en-US') : digits(v, 1)}`,
      ),
    ]),
    (times.length > 1 ? times : [x.low * 1.2, x.high / 1.2]).map((s) => [
      svg('line', { class: 'grid', x1: x(s), x2: x(s), y1: top, y2: bottom }),
      svg(
        'text',
        { x: x(s), y: bottom + 16, 'text-anchor': 'middle' },
        showTime(s).replace(/ 0+ (min|s|h)$/, ''),
      ),
    ]),
    svg('text', { x: right, y: height - 6, 'text-anchor': 'end' }, 'time'),
    svg('text', { x: 4, y: top + 10 }, unit),
    [...choices].sort((a, b) => rank(a) - rank(b)).map(dot),
    named.map(({ c, at: [cx, cy] }) =>
      svg(
        'text',
        {
          class: 'name',
          y: cy + 4,
          x: cx > right - 110 ? cx - 9 : cx + 9,
          'text-anchor': cx > right - 110 ? 'end' : 'start',
        },
        c.gpu,
      ),
    ),
  );
}

// Power over time with the epochs: the picture of dlest plot trace.
export function trace(box, data) {
  const width = Math.max(300, box.clientWidth),
    height = 280;
  const left = 56,
    right = width - 10,
    top = 26,
    bottom = height - 34;
  const last = data.epochs.at(-1); // tables of epochs have no readings
  const end = data.trace.at(-1)?.t_s ?? last.start_s + last.duration_s;
  const most = Math.max(
    ...data.trace.map((p) => p.high_w ?? p.power_w ?? 0),
    ...data.epochs.map((e) => e.power_w ?? 0),
  );
  const x = (t) => round(left + (t / end) * (right - left));
  const y = (w) => round(bottom - (w / (1.05 * most)) * (bottom - top));
  let pen = 'M',
    line = '';
  for (const p of data.trace) {
    line += p.power_w === null ? '' : `${pen}${x(p.t_s)} ${y(p.power_w)}`;
    pen = p.power_w === null ? 'M' : 'L';
  }
  const ranges = data.trace
    .filter((p) => p.low_w !== null)
    .map((p) => `M${x(p.t_s)} ${y(p.low_w)}V${y(p.high_w)}`)
    .join('');
  const means = data.epochs
    .filter((e) => e.power_w !== null)
    .map(
      (e) => `M${x(e.start_s)} ${y(e.power_w)}H${x(e.start_s + e.duration_s)}`,
    )
    .join('');
  const stable = data.epochs.slice(
    data.stable_from ?? 0,
    (data.stable_from ?? 0) + (data.n_stable ?? 0),
  );
  const every = Math.ceil(data.epochs.length / (width / 40));
  const step = ticks(most / 10, most, 3).at(0) * 2;
  const watts = [0, 1, 2, 3, 4, 5]
    .map((k) => k * step)
    .filter((w) => w <= most);
  return svg(
    'svg',
    { class: 'plot', width, height, role: 'img', 'aria-label': data.title },
    stable.length > 0 &&
      svg('rect', {
        class: 'region',
        x: x(stable[0].start_s),
        width:
          x(stable.at(-1).start_s + stable.at(-1).duration_s) -
          x(stable[0].start_s),
        y: top,
        height: bottom - top,
      }),
    watts.map((w) => [
      svg('line', { class: 'grid', x1: left, x2: right, y1: y(w), y2: y(w) }),
      svg(
        'text',
        { x: left - 6, y: y(w) + 4, 'text-anchor': 'end' },
        show('power', w, 2),
      ),
    ]),
    svg('path', { class: 'range', d: ranges }),
    svg('path', { class: 'power', d: line }),
    svg('path', { class: 'mean', d: means }),
    data.epochs.map(
      (e, i) =>
        i % every === 0 && svg('text', { x: x(e.start_s), y: top - 8 }, `${i}`),
    ),
    svg('text', { x: 0, y: top - 8 }, 'epoch'),
    (width < 500 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) =>
      svg(
        'text',
        {
          x: x(share * end),
          y: bottom + 18,
          'text-anchor': share === 0 ? 'start' : share === 1 ? 'end' : 'middle',
        },
        showTime(share * end),
      ),
    ),
  );
}

// --- messages of the engine, as they are

export function drawMessages(box, stderr) {
  box.replaceChildren(
    ...stderr
      .split('\n')
      .filter(Boolean)
      .map((line) =>
        el(
          'p',
          {
            class: /^dlest: (warning|note)/.test(line) ? 'warning' : 'error',
          },
          line,
        ),
      ),
  );
}
