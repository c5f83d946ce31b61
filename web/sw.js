// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the page's files, so that it works without a network. The build puts
// a digest of the files, and their names, between the quotes.

const digest = '@DIGEST@';
const files = '@FILES@'.split(' ');
const prefix = `dlest ${registration.scope} `;

addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(prefix + digest)
      .then((cache) => cache.addAll(files))
      .then(() => skipWaiting()),
  );
});

addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter(
              (name) => name.startsWith(prefix) && name !== prefix + digest,
            )
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => clients.claim()),
  );
});

// The options in the address are the page's; the files do not depend on them.
addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return;
  event.respondWith(
    caches
      .open(prefix + digest)
      .then((cache) => cache.match(event.request, { ignoreSearch: true }))
      .then((kept) => kept || fetch(event.request)),
  );
});
