"""A registry of one image, as `docker pull` speaks to it: what `docker save` wrote, over HTTP."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


def blobs_of(saved: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Return the manifest of a saved image and its blobs by digest."""
    with tarfile.open(fileobj=io.BytesIO(saved)) as tar:

        def read(name: str) -> bytes:
            content = tar.extractfile(name)
            assert content is not None
            return content.read()

        [listed] = json.loads(read("manifest.json"))
        config = read(listed["Config"])
        layers = [read(name) for name in listed["Layers"]]
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": _described(config, _CONFIG),
        "layers": [_described(layer, _LAYER) for layer in layers],
    }
    return json.dumps(manifest).encode(), {_digest(blob): blob for blob in (config, *layers)}


@contextmanager
def serving(saved: bytes) -> Iterator[str]:
    """Serve a saved image on loopback, under any name; yield the registry's address."""
    manifest, blobs = blobs_of(saved)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            *_, kind, name = ["", *self.path.split("/")]
            body = manifest if kind == "manifests" else blobs.get(name, b"")
            self.send_response(200)
            self.send_header("Content-Type", _MANIFEST if kind == "manifests" else "x/blob")
            self.send_header("Docker-Content-Digest", _digest(body))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815  the name that http.server looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _described(blob: bytes, media_type: str) -> dict[str, object]:
    return {"mediaType": media_type, "size": len(blob), "digest": _digest(blob)}


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"
