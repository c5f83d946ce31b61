// SPDX-License-Identifier: GPL-3.0-or-later
// Results of tests as TAP, and the comparison of JSON.

const TOLERANCE = 1e-9;

let count = 0,
  failed = 0;

function report(fault, name) {
  const skip = fault?.skip;
  failed += fault && !skip ? 1 : 0;
  console.log(
    `${fault && !skip ? 'not ok' : 'ok'} ${++count} - ${name}` +
      `${skip ? ` # SKIP ${skip}` : ''}`,
  );
  if (fault && !skip) console.log(String(fault).replace(/^/gm, '# '));
}

export async function test(name, body) {
  try {
    report(await body(), name);
  } catch (error) {
    report(error.stack, name);
  }
}

export function end() {
  console.log(`1..${count}`);
  process.exit(failed > 0 ? 1 : 0);
}

// Where two values of JSON differ; folders of files may.
export function difference(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b))
      ? null
      : `${path}: ${a} here, ${b} on the command line`;
  if (
    a === null ||
    b === null ||
    typeof a !== 'object' ||
    typeof b !== 'object'
  )
    return a === b || path.endsWith('.model')
      ? null
      : `${path}: ${a} here, ${b} on the command line`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key] ?? null, b[key] ?? null, `${path}.${key}`);
    if (found) return found;
  }
  return null;
}
