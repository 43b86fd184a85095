"""Serves /metrics of a worker on a port of its own."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from django.conf import settings
from prometheus_client import CONTENT_TYPE_LATEST

from web import metrics


class Handler(BaseHTTPRequestHandler):
    """Answers GET /metrics for allowed clients."""

    timeout = 10  # seconds for a client to send its request
    server_version = "metrics"
    sys_version = ""

    def do_GET(self) -> None:
        address = str(self.client_address[0])
        is_allowed = metrics.is_allowed(address, self.headers.get("Authorization", ""))
        if self.path != "/metrics" or not is_allowed:
            self.send_error(404)
            return
        body = metrics.render()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE_LATEST)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Suppresses the log line of each call."""


def start() -> ThreadingHTTPServer | None:
    """Serves on METRICS_PORT from a thread; does nothing if metrics are off or the port is 0."""
    if not metrics.IS_ON or not settings.METRICS_PORT:
        return None
    server = ThreadingHTTPServer((settings.METRICS_HOST, settings.METRICS_PORT), Handler)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
