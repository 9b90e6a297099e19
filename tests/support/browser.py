"""A real browser for tests: Debian's chromium, headless, driven by its chromedriver over HTTP (W3C
WebDriver). Python 3 standard library only.

    with Browser() as browser:
        browser.open(server.url + "/console")
        browser.type("#token", "secret")
"""

import base64
import glob
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from seendb_client import eventually

SKIPPED = 77
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER = "\ue007"


def require():
    """Ends the test as skipped, and says why, where there is no browser."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("SKIPPED: NO BROWSER, NO PAGE IS TESTED (Debian: chromium, chromium-driver)")
        sys.exit(SKIPPED)


class Browser:
    """One window. Not for several threads at once."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-browser-")
        self.downloads = os.path.join(self.folder, "downloads")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.port = None
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--user-data-dir=" + os.path.join(self.folder, "profile"), "--hide-scrollbars",
                     "--force-prefers-reduced-motion"]
        made = self.command("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments,
                                   "prefs": {"download.default_directory": self.downloads}},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + made["sessionId"]
        self.view(1280, 900)

    def command(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError("%s: %s" % (answer["error"], answer["message"].split("\n")[0]))
        return answer

    def devtools(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.command("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def view(self, width, height, dark=False):
        """The size of what is seen, and the scheme of colours that the person prefers."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.command("POST", self.session + "/url", {"url": url})

    def url(self):
        return self.command("GET", self.session + "/url")

    def js(self, script, *arguments):
        """What the script returns."""
        return self.command("POST", self.session + "/execute/sync",
                            {"script": script, "args": list(arguments)})

    def later(self, script, *arguments):
        """What the script calls its last argument with."""
        return self.command("POST", self.session + "/execute/async",
                            {"script": script, "args": list(arguments)})

    def find(self, selector):
        """The element, once it is there."""
        def found():
            elements = self.command("POST", self.session + "/elements",
                                    {"using": "css selector", "value": selector})
            return elements and elements[0][ELEMENT]
        return eventually(found)

    def click(self, selector):
        self.command("POST", "%s/element/%s/click" % (self.session, self.find(selector)), {})

    def type(self, selector, text, clear=True):
        element = "%s/element/%s" % (self.session, self.find(selector))
        if clear:
            self.command("POST", element + "/clear", {})
        self.command("POST", element + "/value", {"text": text})

    def text(self, selector="main"):
        """The text of the element as a person sees it."""
        return self.js("const e = document.querySelector(arguments[0]); return e ? e.innerText : ''", selector)

    def wait(self, text, selector="main"):
        """Waits until the element shows the text."""
        try:
            eventually(lambda: text in self.text(selector))
        except AssertionError:
            raise AssertionError("%r is not shown, but: %s" % (text, self.text(selector)[:2000])) from None

    def downloaded(self, pattern):
        """The path of the file that was downloaded, whole: until then the browser keeps an empty file under its
        name and writes beside it."""
        def found():
            paths = glob.glob(os.path.join(self.downloads, pattern))
            return paths[0] if paths and os.path.getsize(paths[0]) > 0 else None
        return eventually(found)

    def screenshot(self, path):
        """Of what is seen."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.devtools("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """What the browser's console got since the last call: failures of scripts, of the policy."""
        log = self.command("POST", self.session + "/se/log", {"type": "browser"})
        return [one["message"] for one in log if one["level"] in ("SEVERE", "WARNING")]

    def close(self):
        try:
            self.command("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            self.driver.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
