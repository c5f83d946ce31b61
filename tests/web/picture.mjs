// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the page for the documentation: docs/figures/page.png.
//
// usage: picture.mjs FOLDER DLEST DATADIR FILE.png [QUERY [TAB]]

import { resolve } from 'node:path';
import { Browser, runProgram, serve } from './browser.mjs';

const [folder, dlest, datadir, file, query, tab] = process.argv.slice(2);
const server = await serve(folder, (args, files) =>
  runProgram(resolve(dlest), args, files, { DLEST_DATADIR: resolve(datadir) }),
);
const browser = await Browser.start(process.env.CHROMIUM || 'chromium');
await browser.size(1280, 800);
await browser.send('Emulation.setScrollbarsHidden', { hidden: true });
await browser.open(
  `${server.origin}/?${query || 'arch=resnet50&gpu=a100&gpus=8&country=DE'}`,
);
await browser.until(`document.querySelectorAll('#parts rect').length > 9`);
if (tab) {
  await browser.value(`document.getElementById('tab-${tab}').click()`);
  await browser.until(`document.querySelectorAll('#${tab} svg').length > 0`);
}
await browser.until(`document.getElementById('list-nodes').options.length > 0`);
await browser.picture(file);
await browser.close();
server.close();
