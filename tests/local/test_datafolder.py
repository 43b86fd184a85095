"""The data folder of a local run."""

import stat
import tempfile
from pathlib import Path

import pytest

from local import CannotStart
from local.datafolder import DataFolder


def test_it_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "deep" / "data")

    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.close()


def test_a_second_run_is_told_who_holds_it(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)

    with pytest.raises(CannotStart, match=r"is in use by process \d+: stop that run first"):
        DataFolder(tmp_path)
    folder.close()
    DataFolder(tmp_path).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotStart, match=r"file/data cannot be used \(Not a directory\)"):
        DataFolder(tmp_path / "file" / "data")


def test_the_keys_are_made_once(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    keys = folder.load_secret_key(), folder.load_encryption_key(), folder.load_vapid_key()

    assert len(keys[0]) >= 50
    assert (folder.load_secret_key(), folder.load_encryption_key(), folder.load_vapid_key()) == keys
    for name in ("secret_key", "encryption_key", "vapid_key"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    folder.close()


def test_the_addresses_are_private_and_go_with_the_run(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.write_environment({"SITE_URL": "http://a", "REDIS_URL": "unix:///b?db=0"})

    assert folder.env_file.read_text() == "SITE_URL=http://a\nREDIS_URL=unix:///b?db=0\n"
    assert stat.S_IMODE(folder.env_file.stat().st_mode) == 0o600
    folder.close()
    assert not folder.env_file.exists()
    assert not folder.sockets.exists()


@pytest.mark.parametrize("name", ["with space", "Umläute", "a,comma", "long" * 40])
def test_sockets_have_short_plain_paths(tmp_path: Path, name: str) -> None:
    folder = DataFolder(tmp_path / name)

    assert len(str(folder.sockets)) <= 75
    assert str(folder.sockets).isascii()
    assert not set(str(folder.sockets)) & set(" ,%")
    assert stat.S_IMODE(folder.sockets.stat().st_mode) == 0o700
    folder.close()


def test_sockets_stay_below_a_plain_folder() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = DataFolder(Path(name))

        assert folder.sockets == Path(name) / "sockets"
        folder.close()


def test_a_link_in_the_place_of_the_sockets_is_refused(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "Ümlaut")
    sockets = folder.sockets
    folder.close()
    sockets.symlink_to(tmp_path)

    with pytest.raises(CannotStart, match="is in the way"):
        DataFolder(tmp_path / "Ümlaut")
    sockets.unlink()
