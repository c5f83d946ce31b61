// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the engine beside the page. A message {id, args, files} is a command
// line; the answer is {id, status, stdout, stderr}.

import { load, run } from './engine.js';

const ready = load(new URL('.', import.meta.url).href);

onmessage = async ({ data: { id, args, files } }) => {
  try {
    await ready;
    postMessage({ id, ...(await run(args, files)) });
  } catch (error) {
    postMessage({
      id,
      status: 1,
      stdout: '',
      stderr: `dlest: the engine stopped: ${error.message}`,
    });
  }
};
