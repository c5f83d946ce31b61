// SPDX-License-Identifier: GPL-3.0-or-later
// Packs the data that estimates need into one file, as web/engine.js reads it:
//   node tools/pack-data.js SOURCES FILE
// Text, since servers compress that.
const fs = require('fs');
const [sources, file] = process.argv.slice(2);
const paths = ['data', 'models'].flatMap(folder => fs.readdirSync(`${sources}/${folder}`)
  .filter(name => /\.(xml|rng)$/.test(name)).map(name => `${folder}/${name}`));
const contents = paths.map(path => fs.readFileSync(`${sources}/${path}`));
const index = paths.map((path, i) => [path, contents[i].length]);
fs.writeFileSync(file, Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...contents]));
