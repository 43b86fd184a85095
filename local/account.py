"""Under which account PostgreSQL runs: it refuses to run as root."""

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
    """What to put before a command, and who owns the files that it writes (None: we do)."""

    prefix: tuple[str, ...] = ()
    owner: int | None = None

    def give(self, folder: Path) -> None:
        """Hand a folder to the account."""
        if self.owner is not None:
            os.chown(folder, self.owner, pwd.getpwuid(self.owner).pw_gid)


def account_for(data: Path) -> Account:
    """The account for the cluster in `data`; the owner of an existing one decides.

    Raises CannotStart where none works.
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
        account = root_in_disguise()
        if account is not None:
            return account
        if owner == 0:
            raise CannotStart(
                f"The database in {data} belongs to root, and user namespaces are closed here: "
                f"give it away (chown -R nobody {data}), or choose another folder with DATA_DIR=…"
            )
    return lesser_account(nobody() if owner is None else owner)


def nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        raise CannotStart(
            "PostgreSQL does not run as root and there is no user “nobody”: "
            "run as an ordinary user, or give DATABASE_URL"
        ) from None


def root_in_disguise() -> Account | None:
    """Root under nobody's number in a user namespace: no second owner, and 0700 trees stay shut."""
    number = nobody()
    prefix = ("unshare", "--user", f"--map-user={number}", f"--map-group={number}")
    return Account(prefix) if works(prefix) else None


def lesser_account(owner: int) -> Account:
    """Another user, who may pass closed folders all the same: the tree may be root's alone."""
    entry = pwd.getpwuid(owner)
    user = ("setpriv", f"--reuid={owner}", f"--regid={entry.pw_gid}", "--clear-groups")
    # Changing the user drops the death signal that we set; INT is PostgreSQL's fast shutdown.
    tie = ("--pdeathsig=INT",)
    for capabilities in (PASS_CLOSED_FOLDERS, ()):
        if works((*user, *capabilities)):
            return Account((*user, *capabilities, *tie), owner)
    raise CannotStart(
        "PostgreSQL does not run as root, and neither unshare nor setpriv can change that here: "
        "run as an ordinary user, or give DATABASE_URL"
    )


def works(prefix: tuple[str, ...]) -> bool:
    if shutil.which(prefix[0]) is None:
        return False
    return subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
