"""Receives webhooks: WEBHOOK_SECRET=whsec_... python receiver.py

Checks both signatures and the time of every delivery, handles each event only once, and responds
204. It needs only Python.

WEBHOOK_SECRET           the secret, as `manage.py webhooksecret` prints it
WEBHOOK_PREVIOUS_SECRET  the old secret, during a rotation
PORT                     the port to listen on (8080)
SEEN                     the file with the ids of handled events (receiver.sqlite3)
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOLERANCE = 5 * 60  # seconds by which the time of a delivery may differ from ours
MAX_BODY = 1024 * 1024  # bytes
SECRETS = [
    os.environ[name]
    for name in ("WEBHOOK_SECRET", "WEBHOOK_PREVIOUS_SECRET")
    if os.environ.get(name)
]


def is_genuine(body: bytes, headers: Message, now: float) -> bool:
    """Checks that one of our secrets signed exactly these bytes within TOLERANCE."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(now - int(timestamp[:12])) > TOLERANCE:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    standard = headers.get("webhook-signature", "").split(" ")
    plain = headers.get("X-Service-Signature-256", "")
    return any(
        is_equal(sign_standard(secret, signed), one) for secret in SECRETS for one in standard
    ) and any(is_equal(sign_plain(secret, body), plain) for secret in SECRETS)


def sign_standard(secret: str, signed: bytes) -> str:
    """Signs as in Standard Webhooks; the key of a secret you chose is its UTF-8 bytes."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def sign_plain(secret: str, body: bytes) -> str:
    """Signs as in X-Service-Signature-256; the key is the whole secret as text."""
    return "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()


def is_equal(one: str, other: str) -> bool:
    """Compares in constant time, so that the duration reveals nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


class HandledEvents:
    """The ids of handled events, in a file that survives restarts."""

    def __init__(self, path: str) -> None:
        self.lock = threading.Lock()
        self.table = sqlite3.connect(path, check_same_thread=False)
        self.table.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY)")

    def handle_once(self, message_id: str, event: dict[str, Any]) -> None:
        """Handles a new event and stores its id; if handling fails, the id is not stored."""
        with self.lock, self.table:
            added = self.table.execute("INSERT OR IGNORE INTO seen VALUES (?)", [message_id])
            if added.rowcount:
                handle(event)


def handle(event: dict[str, Any]) -> None:
    """Write your code here. Put long work in a queue, because the response has 15 seconds."""
    print(event["event"], event.get("request_id"), event.get("response_data"), flush=True)


class Receiver(BaseHTTPRequestHandler):
    """Responds 2xx when an event is handled; after any other response it is sent again."""

    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        if not is_genuine(body, self.headers, time.time()):
            self.send_error(401)
            return
        HANDLED.handle_once(self.headers["webhook-id"], json.loads(body))
        self.send_response(204)
        self.end_headers()


if not SECRETS:
    sys.exit("WEBHOOK_SECRET is not set; `manage.py webhooksecret EMAIL` prints it.")
HANDLED = HandledEvents(os.environ.get("SEEN", "receiver.sqlite3"))
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print(f"Listening at http://127.0.0.1:{server.server_port}/", flush=True)
with contextlib.suppress(KeyboardInterrupt):
    server.serve_forever()
