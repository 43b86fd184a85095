"""Chooses the account that PostgreSQL runs under, because it refuses to run as root."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from local import CannotStart

PASS_CLOSED_FOLDERS = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")


@dataclass(frozen=True)
class Account:
    """An account for commands: `prefix` precedes each command, `owner` is its uid (None: ours)."""

    prefix: tuple[str, ...] = ()
    owner: int | None = None

    def give_folder(self, folder: Path) -> None:
        """Makes the account the owner of a folder."""
        if self.owner is not None:
            os.chown(folder, self.owner, pwd.getpwuid(self.owner).pw_gid)


def find_account(data: Path) -> Account:
    """Finds the account for the cluster in `data`; an existing cluster keeps its owner.

    Raises CannotStart if no account works.
    """
    owner = data.stat().st_uid if data.exists() else None
    if os.geteuid() != 0:
        if owner not in (None, os.geteuid()):
            raise CannotStart(
                f"The database in {data} belongs to another user (uid {owner}): "
                "run as that user, or choose another folder with DATA_DIR=…"
            )
        return Account()
    if owner in (None, 0):
        account = find_namespace_account()
        if account is not None:
            return account
        if owner == 0:
            raise CannotStart(
                f"The database in {data} belongs to root, and user namespaces are closed here: "
                f"give it away (chown -R nobody {data}), or choose another folder with DATA_DIR=…"
            )
    return find_other_account(find_nobody() if owner is None else owner)


def find_nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        raise CannotStart(
            "PostgreSQL does not run as root and there is no user “nobody”: "
            "run as an ordinary user, or give DATABASE_URL"
        ) from None


def find_namespace_account() -> Account | None:
    """Returns root mapped to nobody's uid in a user namespace; None if that is not possible.

    The files stay root's, so folders with mode 0700 can stay closed to other users.
    """
    uid = find_nobody()
    prefix = ("unshare", "--user", f"--map-user={uid}", f"--map-group={uid}")
    return Account(prefix) if can_run(prefix) else None


def find_other_account(owner: int) -> Account:
    """Returns another user's account, with the capability to pass folders that only root may open.

    Raises CannotStart if no account works.
    """
    entry = pwd.getpwuid(owner)
    user = ("setpriv", f"--reuid={owner}", f"--regid={entry.pw_gid}", "--clear-groups")
    # Changing the user drops our death signal, so setpriv sets it again. INT is a fast shutdown.
    death_signal = ("--pdeathsig=INT",)
    for capabilities in (PASS_CLOSED_FOLDERS, ()):
        if can_run((*user, *capabilities)):
            return Account((*user, *capabilities, *death_signal), owner)
    raise CannotStart(
        "PostgreSQL does not run as root, and neither unshare nor setpriv can change that here: "
        "run as an ordinary user, or give DATABASE_URL"
    )


def can_run(prefix: tuple[str, ...]) -> bool:
    if shutil.which(prefix[0]) is None:
        return False
    return subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
