#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the names of a page's files, and a digest of them, into its service
// worker, which keeps them for use without a network:
//   node tools/web-offline.js FOLDER
const crypto = require('crypto');
const fs = require('fs');
const folder = process.argv[2];
const names = fs
  .readdirSync(folder)
  .filter((name) => name !== 'sw.js')
  .sort();
const hash = crypto.createHash('sha256');
for (const name of names)
  hash.update(name).update(fs.readFileSync(`${folder}/${name}`));
const worker = `${folder}/sw.js`;
fs.writeFileSync(
  worker,
  fs
    .readFileSync(worker, 'utf8')
    .replace('@DIGEST@', hash.digest('hex').slice(0, 16))
    .replace('@FILES@', ['./', ...names].join(' ')),
);
