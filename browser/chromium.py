"""A headless Chromium, driven by its DevTools protocol.

Nothing is downloaded: the browser is the one of the system, and only a socket is needed to speak to
it.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: The browser runs as root in a container, where its own sandbox cannot.
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
    *("--remote-debugging-port=0", "--remote-allow-origins=*", "--hide-scrollbars"),
)
SECONDS = 60.0


def program() -> str:
    """The browser of the system."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise RuntimeError("There is no Chromium; on Debian: apt-get install -y chromium")


class Tab:
    """A page in the browser, with everything that it says and asks for."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=SECONDS)
        self._number = 0
        self.messages: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser, and listen to what happens meanwhile."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(request))
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                found: dict[str, Any] = answer["result"]
                return found

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv())
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(str([one.get("value") for one in said["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(said["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        self._loaded = method == "Page.loadEventFired" or getattr(self, "_loaded", False)
        return message

    def open(self, path: Path) -> None:
        """Open a file, and wait until it is loaded."""
        self._loaded = False
        self.messages.clear()
        self.requests.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._receive()

    def run(self, script: str) -> Any:
        """The value of an expression in the page, awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def look(self, width: int, scheme: str = "light", medium: str = "") -> None:
        """Set the width of the screen, the colours and the medium."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def press(self, key: str, code: int) -> None:
        """Press a key where the focus is."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def picture(self, path: Path) -> None:
        """Write the whole page as a picture."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pages(self) -> int:
        """How many pages of paper it makes."""
        answer = self.call("Page.printToPDF", printBackground=False)
        return base64.b64decode(answer["data"]).count(b"/Type /Page\n")

    def close(self) -> None:
        """Say goodbye."""
        self._socket.close()


@contextmanager
def browser() -> Iterator[Tab]:
    """A tab of a browser of its own, with an empty profile."""
    with tempfile.TemporaryDirectory(
        prefix="kernlens-browser-", ignore_cleanup_errors=True
    ) as home:
        process = subprocess.Popen(
            [program(), *FLAGS, f"--user-data-dir={home}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            tab = Tab(_address(Path(home)))
            yield tab
            tab.close()
        finally:
            process.terminate()
            process.wait(timeout=SECONDS)


def _address(home: Path) -> str:
    """Where the first tab listens, as the browser writes it into its profile."""
    import urllib.request

    written, end = home / "DevToolsActivePort", time.monotonic() + SECONDS
    while time.monotonic() < end:
        lines = written.read_text().splitlines() if written.exists() else []
        if len(lines) > 1:
            with urllib.request.urlopen(f"http://127.0.0.1:{lines[0]}/json") as answer:
                tabs = [one for one in json.load(answer) if one["type"] == "page"]
            if tabs:
                address: str = tabs[0]["webSocketDebuggerUrl"]
                return address
        time.sleep(0.1)
    raise RuntimeError("The browser did not begin to listen.")
