#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at HTML pages with a browser and checks what can be measured.

    html_page.py BROWSER PAGE...

Each page is laid out 360 and 1280 px wide, light and dark. Reported, one line
each: a page that is wider than its window, a text or a bar without enough
contrast (WCAG 2.2, 1.4.3 and 1.4.11: 4.5 to 1, bars 3 to 1), a request to
anything but the page, a message of the browser's console. Status 1 if any.
"""

import html
import json
import os
import re
import subprocess
import sys
import tempfile

# Runs in a page that holds the one that is looked at in a frame of that width.
PROBE = """<!DOCTYPE html><html><body><iframe id="f" src="%(page)s"
style="width:%(width)dpx;height:800px;border:0"></iframe><pre id="result"></pre>
<script>
function channel(c) {
  c /= 255;
  return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
}
function rgb(text) { return text.match(/[\\d.]+/g).map(Number); }
function luminance(c) {
  return 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) +
         0.0722 * channel(c[2]);
}
function contrast(a, b) {
  const x = luminance(a), y = luminance(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
function behind(win, e) {
  for (; e; e = e.parentElement) {
    const c = rgb(win.getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
document.getElementById('f').onload = function () {
  const win = this.contentWindow, doc = this.contentDocument, out = {};
  out.width = doc.documentElement.scrollWidth;
  out.window = doc.documentElement.clientWidth;
  out.dark = win.matchMedia('(prefers-color-scheme: dark)').matches;
  out.texts = 0; out.bars = 0; out.worst = 99; out.worst_bar = 99;
  for (const e of doc.body.querySelectorAll('*')) {
    const style = win.getComputedStyle(e), page = behind(win, e);
    const own = [...e.childNodes].some(
        n => n.nodeType === 3 && n.textContent.trim());
    if (own) {
      out.texts++;
      out.worst = Math.min(out.worst, contrast(rgb(style.color), page));
    }
    if (e.tagName.toLowerCase() === 'rect') {
      out.bars++;
      out.worst_bar = Math.min(out.worst_bar,
                               contrast(rgb(style.fill), page));
    }
  }
  out.scripts = doc.querySelectorAll('script').length;
  document.getElementById('result').textContent = JSON.stringify(out);
};
</script></body></html>
"""

SCHEMES = {"light": "1", "dark": "0"}


def look(browser, page, width, scheme, folder):
    """What the probe measured, and what the browser said."""
    probe = os.path.join(folder, "probe.html")
    with open(probe, "w", encoding="utf-8") as f:
        f.write(PROBE % {"page": "file://" + page, "width": width})
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         "--allow-file-access-from-files", "--hide-scrollbars",
         "--user-data-dir=" + os.path.join(folder, "profile"),
         "--blink-settings=preferredColorScheme=" + SCHEMES[scheme],
         "--enable-logging=stderr", "--virtual-time-budget=5000",
         "--window-size=1400,1000", "--dump-dom", "file://" + probe],
        capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if not found or not found.group(1):
        sys.exit("the browser laid out nothing: " + done.stderr[-500:])
    return json.loads(html.unescape(found.group(1))), said


def problems(seen, width, scheme, said):
    if seen["window"] != width:
        yield "laid out %d px wide" % seen["window"]
    if seen["width"] > seen["window"]:
        yield "%d px wide" % seen["width"]
    if seen["dark"] != (scheme == "dark"):
        yield "not " + scheme
    if seen["texts"] < 5:
        yield "hardly any text"
    if seen["worst"] < 4.5:
        yield "a text has a contrast of %.2f" % seen["worst"]
    if seen["bars"] and seen["worst_bar"] < 3:
        yield "a bar has a contrast of %.2f" % seen["worst_bar"]
    if seen["scripts"]:
        yield "a script"
    yield from said


def main():
    browser, wrong = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for page in map(os.path.abspath, sys.argv[2:]):
            with open(page, encoding="utf-8") as f:
                if re.search(r"(src|href|url|@import)\s*[=(]", f.read()):
                    print("%s: refers to another file" % page)
                    wrong = 1
            for width in (360, 1280):
                for scheme in SCHEMES:
                    seen, said = look(browser, page, width, scheme, folder)
                    for what in problems(seen, width, scheme, said):
                        print("%s, %d px, %s: %s" % (page, width, scheme,
                                                     what))
                        wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
