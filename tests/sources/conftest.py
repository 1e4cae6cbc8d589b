"""A data set of two small files, in a mirror, on a local web server that misbehaves on request, and in a wheel."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sources_support import CONTENT, FILES

from fedbench.sources import http
from fedbench.sources.kinds import HttpSource, MirrorSource


@dataclass
class Web:
    """What the server serves, how it misbehaves (one entry a request, then properly), and what it was asked."""

    address: str = ""
    content: dict[str, bytes] = field(default_factory=lambda: dict(CONTENT))
    faults: list[str] = field(default_factory=list)
    requests: list[tuple[str, str | None]] = field(default_factory=list)

    @property
    def source(self) -> HttpSource:
        return HttpSource(name="web", kind="http", at=self.address, files=FILES)


class _Handler(BaseHTTPRequestHandler):
    web: Web

    def do_GET(self) -> None:
        name, web = self.path.rsplit("/", 1)[-1], self.web
        web.requests.append((name, self.headers.get("Range")))
        fault = web.faults.pop(0) if web.faults else ""
        if fault.isdigit():
            self.send_error(int(fault))
            return
        data = web.content[name]
        start = int(self.headers["Range"][6:-1]) if self.headers.get("Range") and fault != "no-range" else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        body = data[start:]
        self.wfile.write(body[: len(body) // 2] if fault == "break" else body)
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch):
    """Serve `CONTENT` on 127.0.0.1; downloads pause only briefly between attempts."""
    monkeypatch.setattr(http, "PAUSE_SECONDS", 0.01)
    state = Web()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"web": state}))
    state.address = f"http://127.0.0.1:{server.server_port}/data"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill a mirror folder and name it in the environment."""
    folder = tmp_path / "mirror" / "small"
    folder.mkdir(parents=True)
    for name, data in CONTENT.items():
        (folder / name).write_bytes(data)
    monkeypatch.setenv("FEDBENCH_MIRROR", str(folder.parent))
    return folder


@pytest.fixture
def mirror_source() -> MirrorSource:
    """Return the source that reads `mirror`."""
    return MirrorSource(name="mirror", kind="mirror", at="small", files=FILES)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fedbench" / "files"
