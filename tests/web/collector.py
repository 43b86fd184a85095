"""What a collector of OpenTelemetry and a Sentry would receive."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import brotli
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

DECODERS = {"": bytes, "gzip": gzip.decompress, "br": brotli.decompress}


@dataclass
class Collector:
    """A server on loopback that keeps what is posted to it."""

    address: str = ""
    posts: list[tuple[str, bytes]] = field(default_factory=list)

    def bodies(self, path: str) -> list[bytes]:
        return [body for where, body in self.posts if where == path]

    def spans(self) -> list[tuple[str, Any]]:
        """Each with the kind of the process that sent it."""
        found = []
        for body in self.bodies("/v1/traces"):
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                names = {each.key: each.value.string_value for each in resource.resource.attributes}
                assert names["service.name"] == "desk"
                kind = names["reviewloop.process"]
                found += [(kind, span) for scope in resource.scope_spans for span in scope.spans]
        return found

    def events(self) -> list[dict[str, Any]]:
        envelopes = [body.split(b"\n") for body in self.bodies("/api/7/envelope/")]
        return [json.loads(lines[2]) for lines in envelopes if b'"event"' in lines[1]]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = DECODERS[self.headers.get("Content-Encoding", "")](body)
            collector.posts.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.address = f"127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
