"""The port, and what all processes of a run agree on."""

import socket
from pathlib import Path

import pytest

from local import CannotStart
from local.datafolder import DataFolder
from local.environment import build_environment, check_port, fetch_readiness, read_port


def test_a_port_in_use_is_named_with_a_way_out() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        with pytest.raises(CannotStart, match=f"Port {port} cannot be used .*PORT={port + 1}"):
            check_port(port)


def test_a_free_port_is_fine() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
    check_port(port)
    assert "refused" in fetch_readiness(port)


@pytest.mark.parametrize("text", ["", "0", "65536", "http", "-1", "٣"])
def test_a_port_is_a_number(text: str) -> None:
    with pytest.raises(CannotStart, match="set it to a number from 1 to 65535"):
        read_port(text)


def test_the_defaults_fit_the_port(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    given = {"DATABASE_URL": "postgres://a/b", "REDIS_URL": "redis://c"}

    shared = build_environment(given, folder, 8123)

    assert shared == {
        **given,
        "SECRET_KEY": folder.load_secret_key(),
        "ENCRYPTION_KEYS": folder.load_encryption_key(),
        "VAPID_PRIVATE_KEY": folder.load_vapid_key(),
        "WEBHOOK_OPEN_NETWORKS": "127.0.0.0/8,::1/128",
        "SITE_URL": "http://127.0.0.1:8123",
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
    }
    folder.close()


def test_what_is_given_stays(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    given = {
        "DATABASE_URL": "postgres://a/b",
        "REDIS_URL": "redis://c",
        "SECRET_KEY": "given",
        "ENCRYPTION_KEYS": "given too",
        "VAPID_PRIVATE_KEY": "given as well",
        "WEBHOOK_OPEN_NETWORKS": "10.0.0.0/8",
        "SITE_URL": "https://review.example.com",
    }

    shared = build_environment(given, folder, 8123)

    assert shared == {**given, "ALLOWED_HOSTS": "review.example.com,127.0.0.1,localhost"}
    assert not (tmp_path / "secret_key").exists()
    assert not (tmp_path / "encryption_key").exists()
    assert not (tmp_path / "vapid_key").exists()
    folder.close()
