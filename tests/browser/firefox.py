"""A headless Firefox, driven over Marionette, its own protocol: JSON with lengths over a socket.

Playwright drives only a Firefox that it has built itself. Marionette takes the commands of
WebDriver from any Firefox, and needs neither geckodriver nor a library.
"""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

from tests.waiting import stretched, wait_until

COMMAND = "firefox-esr"
PREFERENCES = {
    "marionette.port": 0,  # any that is free
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.normandy.enabled": False,
    "services.settings.server": "http://127.0.0.1:9",  # nothing is asked of the world outside
    "browser.safebrowsing.update.enabled": False,
}
# Errors of the pages' own scripts and policies, as the browser's console has them.
ERRORS = """return Services.console.getMessageArray()
  .filter(each => each instanceof Ci.nsIScriptError && each.flags % 2 === 0
    && each.sourceName.startsWith(arguments[0])).map(each => each.message)"""


class Firefox:
    """A running browser with one page."""

    def __init__(self, folder: Path) -> None:
        """Starts it with a fresh profile in the folder."""
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
        (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
        port = folder / "MarionetteActivePort"
        arguments = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote"]
        self.process = subprocess.Popen(
            [shutil.which(COMMAND) or COMMAND, *arguments, "--profile", str(folder)],
            env={**os.environ, "HOME": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: port.exists() and port.read_text().strip())
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())))
        self.socket.settimeout(stretched(30))
        self.stream = self.socket.makefile("rb")
        self.calls = 0
        self.receive()  # its greeting
        self.call("WebDriver:NewSession", capabilities={})

    def receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self.stream.read(1) or self._lost()
        return json.loads(self.stream.read(int(length[:-1])))

    def _lost(self) -> bytes:
        raise ConnectionError("Firefox has gone")

    def call(self, name: str, **parameters: Any) -> Any:
        """Runs one command and returns its value. Raises RuntimeError with Firefox's own words."""
        self.calls += 1
        body = json.dumps([0, self.calls, name, parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(body), body))
        _, _, error, value = self.receive()
        if error:
            raise RuntimeError(f"{error['error']}: {error['message']}")
        return value.get("value") if isinstance(value, dict) else value

    def open(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def find(self, xpath: str) -> str:
        """The id of an element, as soon as there is one."""
        found: list[dict[str, str]] = []

        def look() -> bool:
            found[:] = self.call("WebDriver:FindElements", using="xpath", value=xpath)
            return bool(found)

        wait_until(look)
        return next(iter(found[0].values()))

    def click(self, xpath: str) -> None:
        self.call("WebDriver:ElementClick", id=self.find(xpath))

    def press(self, name: str) -> None:
        """A button or link of the page itself, by its words."""
        words = f"normalize-space()='{name}'"
        self.click(f"//main//*[self::a or self::button][{words}] | //*[@data-send][{words}]")

    def type_into(self, ident: str, text: str) -> None:
        self.call("WebDriver:ElementSendKeys", id=self.find(f"//*[@id='{ident}']"), text=text)

    def reads(self, text: str) -> None:
        self.find(f"//main//*[contains(normalize-space(), '{text}')]")

    def errors(self, site: str) -> list[str]:
        """What the site's pages have logged as errors."""
        self.call("Marionette:SetContext", value="chrome")
        logged: list[str] = self.call("WebDriver:ExecuteScript", script=ERRORS, args=[site])
        self.call("Marionette:SetContext", value="content")
        return logged

    def close(self) -> None:
        self.stream.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()
