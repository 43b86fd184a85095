"""Receives webhooks: WEBHOOK_SECRET=whsec_... python receiver.py

Checks both signatures and the time of every delivery, handles each event once however often it
arrives, and answers 204. It needs nothing but Python.

WEBHOOK_SECRET           the secret, as `manage.py webhooksecret` prints it
WEBHOOK_PREVIOUS_SECRET  during a rotation: the old one too
PORT                     where to listen (8080)
SEEN                     a file that remembers what was handled (receiver.sqlite3)
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

TOLERANCE = 5 * 60  # seconds that a delivery may be old, or early
LARGEST_BODY = 1024 * 1024
SECRETS = [
    os.environ[name]
    for name in ("WEBHOOK_SECRET", "WEBHOOK_PREVIOUS_SECRET")
    if os.environ.get(name)
]


def is_genuine(body: bytes, headers: Message, now: float) -> bool:
    """Whether one of our secrets signed exactly these bytes, just now."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(now - int(timestamp[:12])) > TOLERANCE:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    standard = headers.get("webhook-signature", "").split(" ")
    plain = headers.get("X-Service-Signature-256", "")
    return any(
        equal(standard_signature(secret, signed), one) for secret in SECRETS for one in standard
    ) and any(equal(plain_signature(secret, body), plain) for secret in SECRETS)


def standard_signature(secret: str, signed: bytes) -> str:
    """Standard Webhooks. Secrets that you chose yourself key it with their UTF-8 bytes."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def plain_signature(secret: str, body: bytes) -> str:
    """X-Service-Signature-256 is always keyed with the secret as it is shown."""
    return "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()


def equal(one: str, other: str) -> bool:
    """Takes as long for a wrong first character as for a wrong last one."""
    return hmac.compare_digest(one.encode(), other.encode())


class Seen:
    """Ids of deliveries that were handled, in a file: a restart forgets nothing."""

    def __init__(self, path: str) -> None:
        self.lock = threading.Lock()
        self.table = sqlite3.connect(path, check_same_thread=False)
        self.table.execute("CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY)")

    def handle_once(self, message_id: str, event: dict[str, Any]) -> None:
        """Handles and remembers in one transaction: what fails is not remembered."""
        with self.lock, self.table:
            added = self.table.execute("INSERT OR IGNORE INTO seen VALUES (?)", [message_id])
            if added.rowcount:
                handle(event)


def handle(event: dict[str, Any]) -> None:
    """Your part. Long work belongs in a queue of yours: an answer has 15 seconds."""
    print(event["event"], event.get("request_id"), event.get("response_data"), flush=True)


class Receiver(BaseHTTPRequestHandler):
    """2xx says that the event is ours now; anything else has it sent again."""

    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        if not is_genuine(body, self.headers, time.time()):
            self.send_error(401)
            return
        SEEN.handle_once(self.headers["webhook-id"], json.loads(body))
        self.send_response(204)
        self.end_headers()


if not SECRETS:
    sys.exit("WEBHOOK_SECRET is not set; `manage.py webhooksecret EMAIL` prints it.")
SEEN = Seen(os.environ.get("SEEN", "receiver.sqlite3"))
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print(f"Listening at http://127.0.0.1:{server.server_port}/", flush=True)
with contextlib.suppress(KeyboardInterrupt):
    server.serve_forever()
