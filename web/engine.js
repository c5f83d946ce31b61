/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program dlest in a page, a worker or Node.js: tools/build-web.sh appends this
 * to what Emscripten generates, which provides createDlest(). Each run is a fresh
 * instance of one compiled module, with files in memory. */

const DATADIR = '/usr/share/dlest';
const DIRECTORY = '/home/web_user'; // where the given files are

let compiled; // WebAssembly.Module
let data; // [{ path, bytes }], views of one file

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok)
    throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response;
}

/** The files packed by tools/build-web.sh: a line of JSON, [[path, length], ...],
 * then their bytes one after the other. */
function unpack(buffer) {
  const bytes = new Uint8Array(buffer);
  let at = bytes.indexOf(10) + 1;
  return JSON.parse(new TextDecoder().decode(bytes.subarray(0, at)))
    .map(([path, length]) => {
      at += length;
      return { path, bytes: bytes.subarray(at - length, at) };
    });
}

/** Prepares the engine from the bytes of dlest.wasm and dlest-data.txt. */
export async function prepare(wasm, packed) {
  [compiled, data] = [await WebAssembly.compile(wasm), unpack(packed)];
}

/** Fetches and prepares the engine; baseUrl is the folder that holds its files. */
export async function load(baseUrl = new URL('.', import.meta.url)) {
  const files = ['dlest.wasm', 'dlest-data.txt'];
  await prepare(...await Promise.all(files.map(async name =>
    (await fetched(new URL(name, baseUrl))).arrayBuffer())));
}

function addFile(FS, path, bytes) {
  const slash = path.lastIndexOf('/');
  const folder = path.slice(0, slash);
  FS.mkdirTree(folder);
  // The file system shares the bytes, since nothing writes to these files.
  FS.createDataFile(folder, path.slice(slash + 1), bytes, true, false, true);
}

/** Opens descriptors 0 to 2, on files that are no terminal. */
function openStreams(FS, stdin) {
  FS.writeFile('/stdin', stdin);
  FS.open('/stdin', 'r');
  FS.open('/stdout', 'w');
  FS.open('/stderr', 'w');
}

function start(instance, args) {
  try {
    return instance.callMain(args);
  } catch (error) {
    if (error?.name !== 'ExitStatus')
      throw error;
    return error.status;
  }
}

/**
 * Runs dlest with the arguments, as from a shell. `files` maps names to contents
 * (text or Uint8Array); the name '-' is the standard input. Resolves to
 * { status, stdout, stderr }.
 */
export async function run(args, files = {}) {
  const encoder = new TextEncoder();
  let exit;
  const instance = await createDlest({
    noInitialRun: true,
    noFSInit: true,
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(compiled, imports).then(done);
      return {};
    },
    preRun: [({ FS }) => {
      openStreams(FS, files['-'] ?? '');
      for (const { path, bytes } of data)
        addFile(FS, `${DATADIR}/${path}`, bytes);
      for (const [name, content] of Object.entries(files))
        if (name !== '-')
          addFile(FS, `${DIRECTORY}/${name}`,
            typeof content === 'string' ? encoder.encode(content) : content);
      FS.chdir(DIRECTORY);
    }],
    onExit: status => { exit = status; },
  });
  const status = start(instance, [...args]);
  const text = path => instance.FS.readFile(path, { encoding: 'utf8' });
  return { status: exit ?? status, stdout: text('/stdout'), stderr: text('/stderr') };
}
