"""Builds the environment of a local run, and checks its port and readiness."""

import http.client
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from local import CannotStart
from local.datafolder import DataFolder


def build_environment(
    environment: Mapping[str, str], folder: DataFolder, port: int
) -> dict[str, str]:
    """Builds the variables that all processes of this run share, later `manage.py` included."""
    site = environment.get("SITE_URL") or f"http://127.0.0.1:{port}"
    hosts = ",".join(dict.fromkeys((urlsplit(site).hostname or "", "127.0.0.1", "localhost")))
    return {
        "DATABASE_URL": environment["DATABASE_URL"],
        "REDIS_URL": environment["REDIS_URL"],
        "SECRET_KEY": environment.get("SECRET_KEY") or folder.load_secret_key(),
        "ENCRYPTION_KEYS": environment.get("ENCRYPTION_KEYS") or folder.load_encryption_key(),
        "SITE_URL": site,
        "ALLOWED_HOSTS": environment.get("ALLOWED_HOSTS") or hosts,
        "VAPID_PRIVATE_KEY": environment.get("VAPID_PRIVATE_KEY") or folder.load_vapid_key(),
        # in a local run, receivers are on the same machine
        "WEBHOOK_OPEN_NETWORKS": environment.get("WEBHOOK_OPEN_NETWORKS") or "127.0.0.0/8,::1/128",
    }


def check_port(port: int) -> None:
    """Raises CannotStart if the port is taken; the web server would silently share it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CannotStart(
                f"Port {port} cannot be used ({error.strerror}): "
                f"stop the program that uses it, or choose another with PORT={port + 1}"
            ) from error


def fetch_readiness(port: int) -> str:
    """Returns the status and the body of /readyz, or the error of the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return f"{response.status} {response.read(500).decode('utf-8', 'replace')}"
    except (OSError, http.client.HTTPException) as error:
        return str(error)
    finally:
        connection.close()


def read_port(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise CannotStart(f"PORT is {text!r}: set it to a number from 1 to 65535")
