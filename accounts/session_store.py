"""Stores and ends sessions. A copy of the database lets nobody sign in.

The table has a hash of each session key, and the content is encrypted with a key that is derived
from SECRET_KEY. A session of a signed-in person ends after a time without use and, however much it
is used, after a time since the sign-in. Both are longer if the person chose to stay signed in.
"""

import base64
import hashlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils import timezone
from django.utils.crypto import salted_hmac

REMEMBER = "remember"  # chosen on a sign-in page, before the sign-in
_STARTED, _REMEMBERED = "signed_in_at", "remembered"
_PROLONGED_AFTER = 20  # a session in use is prolonged once a 20th of its idle time has passed


def hash_key(session_key: str | None) -> str:
    """Returns what the tables have in place of a session key."""
    return hashlib.sha256((session_key or "").encode()).hexdigest()[:40]


def begin(session: SessionBase) -> None:
    """Starts the times of a session whose person has just signed in."""
    session[_STARTED] = time.time()
    session[_REMEMBERED] = bool(session.pop(REMEMBER, False))


class SessionStore(db.SessionStore):
    """Django's sessions in the database, with hashed keys, encrypted content and two ends."""

    keeps_key = False  # set by accounts.middleware while Django finds out who is signed in

    def cycle_key(self) -> None:
        if not self.keeps_key:
            super().cycle_key()

    def load(self) -> dict[str, Any]:
        rows = self.model.objects.filter(pk=hash_key(self.session_key))
        row = rows.filter(expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
            return {}
        content = self.decode(row.session_data)
        end = find_end(content)
        if end is not None and end - row.expire_date > read_idle_time(content) / _PROLONGED_AFTER:
            rows.update(expire_date=end)  # another request may change the content
        return content

    def exists(self, session_key: str) -> bool:
        return super().exists(hash_key(session_key))

    def delete(self, session_key: str | None = None) -> None:
        session_key = session_key or self.session_key
        if session_key is not None:
            self.model.objects.filter(pk=hash_key(session_key)).delete()

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = hash_key(row.session_key)
        return row

    def encode(self, session_dict: dict[str, Any]) -> str:
        return _fernet().encrypt(super().encode(session_dict).encode()).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Decrypts the content; an unreadable one is empty, as with another SECRET_KEY."""
        try:
            encoded = _fernet().decrypt(session_data).decode()
        except InvalidToken:
            return {}
        content: dict[str, Any] = super().decode(encoded)
        return content

    def get_expiry_date(self, **options: Any) -> datetime:
        """Returns the expiry of the row."""
        return find_end(dict(self.items())) or super().get_expiry_date(**options)

    def get_expiry_age(self, **options: Any) -> int:
        """Returns the seconds that the browser keeps the cookie."""
        started = self.get(_STARTED)
        if started is None:
            return int(super().get_expiry_age(**options))
        longest = read_longest_time(dict(self.items()))
        return max(0, int(started + longest.total_seconds() - time.time()))

    def get_expire_at_browser_close(self) -> bool:
        if self.get(_STARTED) is None:
            return bool(super().get_expire_at_browser_close())
        return not self.get(_REMEMBERED)

    async def aload(self) -> dict[str, Any]:
        raise NotImplementedError  # Django's version looks for keys that are not hashed

    async def aexists(self, session_key: str) -> bool:
        raise NotImplementedError

    async def asave(self, must_create: bool = False) -> None:
        raise NotImplementedError

    async def adelete(self, session_key: str | None = None) -> None:
        raise NotImplementedError


def find_end(content: Mapping[str, Any]) -> datetime | None:
    """Returns the expiry of the session after a use now; None if nobody is signed in."""
    started = content.get(_STARTED)
    if started is None:
        return None
    latest = datetime.fromtimestamp(started, UTC) + read_longest_time(content)
    return min(timezone.now() + read_idle_time(content), latest)


def read_idle_time(content: Mapping[str, Any]) -> timedelta:
    return settings.REMEMBERED_IDLE if content.get(_REMEMBERED) else settings.SESSION_IDLE


def read_longest_time(content: Mapping[str, Any]) -> timedelta:
    return settings.REMEMBERED_LONGEST if content.get(_REMEMBERED) else settings.SESSION_LONGEST


def _fernet() -> MultiFernet:
    return _build_fernet((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=4)
def _build_fernet(secrets: tuple[str, ...]) -> MultiFernet:
    digests = [
        salted_hmac("accounts.session_store", "content", secret, algorithm="sha256").digest()
        for secret in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
