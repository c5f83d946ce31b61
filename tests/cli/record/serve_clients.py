# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of dlest record --serve that do their worst for some seconds.

usage: serve_clients.py PORT SECONDS

Of 100 connections a third sends nothing, a third half a request, and a third
asks for the page without ever reading the answer. Two more fetch the state
again and again. Prints how many states were fetched.
"""

import json
import socket
import sys
import threading
import time
import urllib.request

port, seconds = int(sys.argv[1]), float(sys.argv[2])
end = time.monotonic() + seconds
requests = [b"", b"GET /state.json HTTP/1.1\r\nHost: localh",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50]
fetched = [0, 0]


def fetch(i):
    """Fetches the state until the end."""
    while time.monotonic() < end:
        url = "http://127.0.0.1:%d/state.json" % port
        with urllib.request.urlopen(url, timeout=5) as answer:
            json.load(answer)
        fetched[i] += 1
        time.sleep(0.01)


stalled = []
for number in range(100):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.sendall(requests[number % 3])
    stalled.append(client)
threads = [threading.Thread(target=fetch, args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
time.sleep(max(0, end - time.monotonic()))
print(min(fetched))
