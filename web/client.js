// SPDX-License-Identifier: GPL-3.0-or-later
// The engine, in workers.

import { $ } from './draw.js';

class Engine {
  #worker = new Worker('worker.js', { type: 'module' });
  #waiting = new Map();
  #last = 0;

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      this.#waiting.get(data.id)(data);
      this.#waiting.delete(data.id);
    };
    this.#worker.onerror = () => {
      $('state').textContent = 'The engine cannot be loaded';
    };
  }

  run(args, files = {}) {
    return new Promise((resolve) => {
      this.#waiting.set(++this.#last, resolve);
      this.#worker.postMessage({ id: this.#last, args, files });
    });
  }

  // Options as --help print other texts, which stand as messages.
  async json(args, files) {
    const result = await this.run([...args, '--format', 'json'], files);
    if (result.stdout.startsWith('{'))
      return { ...result, json: JSON.parse(result.stdout) };
    const stderr = result.stderr + result.stdout || 'dlest printed no estimate';
    return { ...result, stderr, json: null };
  }

  async list(kind, ...more) {
    return (await this.json(['list', kind, ...more])).json[kind];
  }
}

// Estimates do not wait for lists and comparisons.
export const front = new Engine(),
  back = new Engine();
