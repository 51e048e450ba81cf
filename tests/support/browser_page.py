"""A page in headless Chromium that takes its time: it says what it found when it is done."""

import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECONDS = 120
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
)
PAGE = """<!doctype html><meta charset="utf-8"><title>page</title>
<body><img src="wait" alt=""><script type="module" src="{script}"></script></body>"""


def found_in_page(folder: Path, script: str, query: str, *, chromium: str, profile: Path) -> str:
    """What a page with a script has posted to ``found``.

    Chromium ends once the page is loaded, which an image keeps from happening until then.

    Parameters
    ----------
    folder : path
        What is served to the page, the script among it.
    script, query : str
        Name of the script, and what follows ``?`` in the page's URL.
    chromium : str
        The program.
    profile : path
        A folder for its profile.
    """
    posted: list[str] = []
    done = threading.Event()

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0]
            if name == "/wait":
                done.wait(SECONDS)
                self.send_error(404)
            elif name == "/page.html":
                self._send(PAGE.format(script=script).encode())
            else:
                super().do_GET()

        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._send(b"")
            done.set()

        def log_message(self, *args: Any) -> None:
            """Nothing on the terminal."""

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/page.html?{query}"
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", url]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
        finally:
            done.set()
            server.shutdown()
    assert posted, "the page posted nothing"
    return posted[0]
