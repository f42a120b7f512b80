"""A headless Chromium that is driven as a person would: real wheel, pointer and key events, and screenshots.

It talks the DevTools protocol over two pipes (--remote-debugging-pipe: file descriptors 3 and 4, messages of JSON that end in
a zero byte), so that nothing but Python and a browser is needed.
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find():
    """Path of a Chromium, or None: $BRAID_CHROMIUM, the PATH, then what Playwright keeps."""
    for name in (os.environ.get("BRAID_CHROMIUM"), *NAMES):
        if name and shutil.which(name):
            return shutil.which(name)
    kept = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
    found = sorted(kept.glob("chromium-*/chrome-linux*/chrome"))
    return str(found[-1]) if found else None


class Page:
    """One page of one browser, 1280 x 800. Use it with `with`."""

    def __init__(self, program, width=1280, height=800):
        self.home = tempfile.TemporaryDirectory(prefix="braid-chromium-")
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()

        def descriptors():  # 3 and 4, without treading on each other
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
             f"--user-data-dir={self.home.name}", f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, close_fds=False,
            preexec_fn=descriptors, env=dict(os.environ, HOME=self.home.name))
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.attached, self.events = b"", 0, None, []
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.close(self.writing)  # at which the browser ends
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.reading)
        for _ in range(20):  # its children may still be writing
            try:
                self.home.cleanup()
                break
            except OSError:
                time.sleep(0.1)

    def message(self):
        while b"\0" not in self.rest:
            got = os.read(self.reading, 1 << 16)
            if not got:
                raise RuntimeError("the browser ended")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        sent = {"id": self.number, "method": method, "params": params}
        if self.attached:
            sent["sessionId"] = self.attached
        data = json.dumps(sent).encode() + b"\0"
        while data:
            data = data[os.write(self.writing, data):]
        while True:
            got = self.message()
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']['message']}")
                return got["result"]
            self.events.append(got)

    def open(self, path):
        """Loads a file. What it asked of anybody else, and what went wrong in its scripts, is in `complaints`."""
        self.events.clear()
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        self.settle()

    def settle(self):
        """Until what was asked to be drawn is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def complaints(self):
        found = []
        for event in self.events:
            name, about = event.get("method"), event.get("params", {})
            if name == "Network.requestWillBeSent" and not about["request"]["url"].startswith(("file:", "data:")):
                found.append("asks the network for " + about["request"]["url"])
            elif name == "Runtime.exceptionThrown":
                found.append("script: " + about["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif name == "Log.entryAdded" and about["entry"]["level"] == "error":
                found.append("browser: " + about["entry"]["text"])
        return found

    def run(self, script):
        """The value of an expression of JavaScript in the page."""
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"].get("exception", {}).get("description", "script failed"))
        return got["result"].get("value")

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, x, y, by):
        for kind, at in (("mousePressed", x), ("mouseMoved", x + by / 2), ("mouseMoved", x + by), ("mouseReleased", x + by)):
            self.ask("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=1, clickCount=1)
        self.settle()

    def wheel(self, x, y, delta, control=True):
        self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta, modifiers=2 if control else 0)
        self.settle()

    def screenshot(self, path=None, whole=False, clip=None):
        """PNG bytes, also written to `path`: of the window, of the whole page, or of (x, y, width, height)."""
        part = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1)} if clip else {}
        got = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **part)
        data = base64.b64decode(got["data"])
        if path:
            Path(path).write_bytes(data)
        return data


def pixels(png):
    """Of an 8-bit PNG without interlacing: rows of (red, green, blue)."""
    at, parts, header = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            parts += body
        at += 12 + length
    width, height, _, colours = header
    size = {2: 3, 6: 4}[colours]
    raw, rows, last = zlib.decompress(parts), [], bytearray(width * size)
    for y in range(height):
        kind, line = raw[y * (width * size + 1)], bytearray(raw[y * (width * size + 1) + 1:(y + 1) * (width * size + 1)])
        for i in range(len(line)):
            left = line[i - size] if i >= size else 0
            corner = last[i - size] if i >= size else 0
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 2:
                line[i] = (line[i] + last[i]) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + last[i]) // 2) & 255
            elif kind == 4:
                near = min((abs(left + last[i] - corner - v), n, v) for n, v in enumerate((left, last[i], corner)))
                line[i] = (line[i] + near[2]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), size)])
        last = line
    return rows
