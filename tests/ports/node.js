/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Emscripten does not hand the environment of Node.js to the program, and takes all
 * standard streams for terminals. */
Module.preRun = () => Object.assign(ENV, process.env);
Module.onRuntimeInitialized = () => {
  for (const fd of [0, 1, 2])
    FS.streams[fd].tty = require('tty').isatty(fd);
};
