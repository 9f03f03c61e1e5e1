"""A server of the playground on this machine, for this machine alone."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

#: Types of files by the ends of their names.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
}


class Server(ThreadingHTTPServer):
    """A server of *files* by name at a free port of the loopback address; ``address`` is where its page is."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Send a file. Other names of this machine are refused, by which pages from elsewhere could ask."""
        host = f"127.0.0.1:{self.server.server_port}"
        name = unquote(urlsplit(self.path).path).removeprefix("/") or "index.html"
        content = self.server.files.get(name)
        if self.headers.get("Host") != host:
            self.send_error(HTTPStatus.FORBIDDEN, f"Ask for {host}")
        elif content is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", _TYPES[PurePosixPath(name).suffix])
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-cache")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing of what is asked for."""
