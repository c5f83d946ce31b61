// SPDX-License-Identifier: GPL-3.0-or-later
// A page in a headless Chromium, by the DevTools protocol over a pipe, and a
// server of a folder's files: nothing to install.

import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

// The engine's interface with the native program behind it, for a folder
// without WebAssembly.
const NATIVE = `export const load = async () => {};
export async function run(args, files = {}) {
  const all = Object.entries(files).map(([name, bytes]) => [name, [...bytes]]);
  const answer = await fetch('run', {method: 'POST',
    body: JSON.stringify({args, files: all})});
  return answer.json();
}`;

// Runs a program in a folder with these files.
export async function runProgram(program, args, files, environment) {
  const folder = await mkdtemp(join(tmpdir(), 'dlest-web-'));
  for (const [name, bytes] of files)
    await writeFile(join(folder, basename(name)), Uint8Array.from(bytes));
  const result = await new Promise((resolve) => {
    execFile(
      program,
      args,
      {
        cwd: folder,
        maxBuffer: 1 << 26,
        env: { PATH: process.env.PATH, ...environment },
      },
      (error, stdout, stderr) =>
        resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
  await rm(folder, { recursive: true });
  return result;
}

// Serves a folder; `native` runs command lines in the place of its engine.
export async function serve(folder, native) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    const name = path.endsWith('/') ? 'index.html' : basename(path);
    const send = (body, type) => {
      response.writeHead(200, { 'Content-Type': type });
      response.end(body);
    };
    if (request.method === 'POST' && native) {
      const { args, files } = JSON.parse(
        Buffer.concat(await request.toArray()).toString(),
      );
      return send(
        JSON.stringify(await native(args, files)),
        'application/json',
      );
    }
    if (name === 'engine.js' && native) return send(NATIVE, TYPES['.js']);
    try {
      send(
        await readFile(join(folder, name)),
        TYPES[extname(name)] || 'application/octet-stream',
      );
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export class Browser {
  errors = []; // of the console
  origins = new Set(); // of all requests
  #waiting = new Map();
  #last = 0;
  #handlers = new Map();

  static async start(program) {
    const browser = new Browser();
    browser.profile = await mkdtemp(join(tmpdir(), 'dlest-chromium-'));
    browser.process = spawn(
      program,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--remote-debugging-pipe',
        `--user-data-dir=${browser.profile}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    process.on('exit', () => browser.process.kill());
    browser.#listen(browser.process.stdio[4]);
    const { targetId } = await browser.#send('Target.createTarget', {
      url: 'about:blank',
    });
    browser.session = (
      await browser.#send('Target.attachToTarget', { targetId, flatten: true })
    ).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'DOM'])
      await browser.send(`${domain}.enable`);
    return browser;
  }

  #listen(pipe) {
    let rest = '';
    pipe.on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop();
      messages.forEach((text) => this.#take(JSON.parse(text)));
    });
  }

  #take({ id, method, params, result, error }) {
    if (id) {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === 'Runtime.exceptionThrown')
      this.errors.push(
        params.exceptionDetails.exception?.description ||
          params.exceptionDetails.text,
      );
    else if (method === 'Log.entryAdded' && params.entry.level === 'error')
      this.errors.push(`${params.entry.text} ${params.entry.url || ''}`);
    else if (method === 'Runtime.consoleAPICalled' && params.type === 'error')
      this.errors.push(params.args.map((arg) => arg.value).join(' '));
    else if (method === 'Network.requestWillBeSent')
      this.origins.add(new URL(params.request.url).origin);
    this.#handlers.get(method)?.(params);
  }

  #send(method, params = {}, sessionId = undefined) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#last, { resolve, reject });
      this.process.stdio[3].write(
        JSON.stringify({ id: this.#last, method, params, sessionId }) + '\0',
      );
    });
  }

  send(method, params) {
    return this.#send(method, params, this.session);
  }

  // Waits for an event; call it before what leads to it.
  event(method) {
    return new Promise((resolve) => this.#handlers.set(method, resolve));
  }

  async open(url) {
    const loaded = this.event('Page.loadEventFired');
    await this.send('Page.navigate', { url });
    await loaded;
  }

  // The value of an expression, which may await.
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression: `(async () => (${expression}))()`,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description);
    return result.value;
  }

  // Waits until an expression is true.
  async until(expression, seconds = 30) {
    const end = Date.now() + 1000 * seconds;
    while (!(await this.value(expression))) {
      if (Date.now() > end) throw new Error(`never: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async key(key, text = undefined, modifiers = 0) {
    const codes = {
      Tab: 9,
      Enter: 13,
      ' ': 32,
      End: 35,
      Home: 36,
      ArrowLeft: 37,
      ArrowRight: 39,
      ArrowDown: 40,
      Backspace: 8,
    };
    const event = {
      key,
      modifiers,
      text: text ?? { Enter: '\r', ' ': ' ' }[key],
      code: key === ' ' ? 'Space' : key,
      windowsVirtualKeyCode: codes[key],
    };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', {
      type: 'keyUp',
      ...event,
      text: undefined,
    });
  }

  type(text) {
    return this.send('Input.insertText', { text });
  }

  size(width, height) {
    return this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }

  media(media, scheme) {
    return this.send('Emulation.setEmulatedMedia', {
      media,
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
  }

  async picture(path) {
    const { data } = await this.send('Page.captureScreenshot', {
      format: 'png',
    });
    await writeFile(path, Buffer.from(data, 'base64'));
  }

  async close() {
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    await this.#send('Browser.close');
    await ended;
    await rm(this.profile, { recursive: true, force: true });
  }
}
