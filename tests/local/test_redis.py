"""The embedded Redis."""

from pathlib import Path

import pytest
import redis as client

from local import CannotStart
from local.datafolder import DataFolder
from local.redis import Redis


def test_it_answers_on_its_socket_alone_and_stops(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    server = Redis(folder.path, folder.sockets)
    process = server.start()

    with client.Redis.from_url(server.url) as connection:
        assert connection.ping()
        assert connection.config_get("port") == {"port": "0"}
    assert server.socket.stat().st_mode & 0o777 == 0o700
    server.stop(process)
    assert process.returncode == 0
    folder.close()


def test_what_kept_it_from_starting_is_quoted(tmp_path: Path) -> None:
    server = Redis(tmp_path, tmp_path / "missing")

    with pytest.raises(CannotStart, match="Redis did not start"):
        server.start()
