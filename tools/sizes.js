// SPDX-License-Identifier: GPL-3.0-or-later
// The sizes of a folder's files: as they are, by gzip and by Brotli.
//   node tools/sizes.js FOLDER
const fs = require('fs');
const zlib = require('zlib');
const folder = process.argv[2];
const sum = [0, 0, 0];
const line = (sizes, name) => console.log(`${sizes.map(n => String(n).padStart(9)).join('')}  ${name}`);
console.log('    bytes     gzip   brotli');
for (const name of fs.readdirSync(folder).sort()) {
  const bytes = fs.readFileSync(`${folder}/${name}`);
  const sizes = [bytes.length, zlib.gzipSync(bytes, { level: 9 }).length, zlib.brotliCompressSync(bytes).length];
  sizes.forEach((n, i) => { sum[i] += n; });
  line(sizes, name);
}
line(sum, 'all');
