"""The cast of the tests: who they are, and how they call."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.core.cache import cache
from django.db import connection
from django.template import Context, Template
from django.test import Client, TransactionTestCase
from django.test.signals import template_rendered
from django.utils.safestring import SafeString
from pytest_django import DjangoDbBlocker, Settings
from whitenoise.middleware import WhiteNoiseMiddleware

from accounts.models import User
from accounts.services import create_account, create_api_key
from db import deliveries
from languages import pseudo
from local.pytest_plugin import PREPARED, UNSTARTED_SERVERS, needs_server
from loops.models import Loop
from loops.services import create_loop, join_loop
from tests.emptying import empty_tables
from tests.serving import serving

# An example takes long where the machine has other work; that is no failure.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")
PASSWORD = "correct horse battery"
# What files of the running service take, each on one worker (tests/parts.py).
MINUTES = {
    "faults/test_faults.py": 2.4,
    "faults/test_locks_and_pauses.py": 1.7,
    "faults/test_outages.py": 1.2,
    "processes/test_stopping.py": 1.1,
    "processes/test_starting.py": 1.0,
}


class Api:
    """An API client with a key of its own; the key may be anything, None sends no header."""

    def __init__(self, key: str | None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=self.headers | headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("POST", path, body, headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("PUT", path, body, headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.client.delete(path, headers=self.headers | headers)

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        return self.client.generic(
            method,
            path,
            data=body if isinstance(body, bytes) else encode(body),
            content_type="application/json",
            headers=self.headers | headers,
        )


def encode(body: Any) -> bytes:
    """A body as JSON; None is an empty one."""
    return b"" if body is None else json.dumps(body).encode()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first, so that none of them is left over at the end."""
    items.sort(key=lambda item: -MINUTES.get("/".join(item.path.parts[-2:]), 0))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Begins each worker's database as a copy of the prepared one, if there is one."""
    if os.environ.get(PREPARED):
        connection.settings_dict["TEST"]["TEMPLATE"] = "app"


@pytest.fixture(scope="session", autouse=True)
def _static_files_listed_once() -> Iterator[None]:
    """Lists the static files once: WhiteNoise reads all folders again for every new test client,
    which took 40 % of the time of the tests.
    """
    listed: dict[str, Any] = {}
    read_folders = WhiteNoiseMiddleware.add_files_from_finders

    def add_files(middleware: Any) -> None:
        if not listed:
            read_folders(middleware)
            listed.update(middleware.files)
        middleware.files = dict(listed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files)
        yield


@pytest.fixture(scope="session", autouse=True)
def _only_filled_tables_are_emptied() -> Iterator[None]:
    """After a test with `transactional_db`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_tables())
        yield


@pytest.fixture(scope="session", autouse=True)
def _only_whole_pages_are_noted(django_test_environment: None) -> Iterator[None]:
    """Test clients keep a copy of each template's context, of those that a page includes too: that
    was a fifth of the time of a page. Tests read the page's own.
    """

    def render(template: Template, context: Context) -> SafeString:
        if context.template is template:  # not what it extends or includes
            template_rendered.send(sender=template, template=template, context=context)
        return template.nodelist.render(context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", render)
        yield


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    """A real hash costs a quarter of a second, and every test has people in it."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _patience_with_a_busy_machine(settings: Settings) -> None:
    """A call in the test's own process may take long where other tests run beside it."""
    settings.WEB_DATABASE_SECONDS = 60


@pytest.fixture(autouse=True)
def _deliveries_are_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test's count of statements has the look, once a second, whether deliveries are on."""
    monkeypatch.setattr(deliveries, "_memory", deliveries._Memory(until=math.inf))


@pytest.fixture(autouse=True)
def _servers_are_asked_for(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the servers from a test that asks for none, so that its commands fail here as they do
    under `make check`, which starts no server.
    """
    if not needs_server(request.node):
        for name, address in UNSTARTED_SERVERS.items():
            monkeypatch.setenv(name, address)


@pytest.fixture(autouse=True)
def _fresh_throttles(request: pytest.FixtureRequest) -> None:
    """No test inherits another one's throttles."""
    if "db" in request.fixturenames or "transactional_db" in request.fixturenames:
        cache.clear()


@pytest.fixture(scope="session")
def service_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service") / "server.log"


@pytest.fixture(scope="session")
def service(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, service_log: Path
) -> Iterator[str]:
    """The address of a web server over the database of the tests. Starting one takes a second of
    CPU time, so there is one for all tests; none of them may stop it.
    """
    with django_db_blocker.unblock():
        started = serving(service_log)
        site = started.__enter__()
    yield site
    started.__exit__(None, None, None)


@pytest.fixture
def redis_server() -> None:
    """Asked for by a test without a database that reaches Redis: it starts with an empty cache."""
    cache.clear()


def account(name: str) -> User:
    """An account with a password and a verified address."""
    return create_account(
        email=f"{name}@example.com", name=name.title(), password=PASSWORD, verified=True
    )


def key_of(user: User, **options: Any) -> str:
    """The secret of a new key."""
    return create_api_key(user=user, name="test", **options)[1]


@pytest.fixture
def owner(db: None) -> User:
    return account("owner")


@pytest.fixture
def member(db: None) -> User:
    return account("member")


@pytest.fixture
def outsider(db: None) -> User:
    return account("outsider")


@pytest.fixture
def operator(db: None) -> User:
    user = account("operator")
    user.is_staff = user.is_superuser = True
    user.save()
    return user


@pytest.fixture
def owner_key(owner: User) -> str:
    return key_of(owner)


@pytest.fixture
def member_key(member: User) -> str:
    return key_of(member)


@pytest.fixture
def outsider_key(outsider: User) -> str:
    return key_of(outsider)


@pytest.fixture
def api() -> type[Api]:
    """`api(secret)` is a client."""
    return Api


@pytest.fixture
def loop(owner: User, member: User) -> Loop:
    """The owner's loop, with the member in it."""
    made = create_loop(owner_id=owner.pk, name="Refund desk", icon="star")
    join_loop(user=member, code=made.invite_code)
    return made


@pytest.fixture(scope="session")
def pseudo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled catalogues of the pseudo-locale."""
    folder = tmp_path_factory.mktemp("locale")
    pseudo.write(folder)
    return folder


@pytest.fixture
def pseudo_locale(pseudo_folder: Path, settings: Settings) -> str:
    """Offers the pseudo-locale, which only tests do, and returns its code."""
    settings.LOCALE_PATHS = [pseudo_folder, *settings.LOCALE_PATHS]
    settings.LANGUAGES = [*settings.LANGUAGES, (pseudo.LANGUAGE, "Pseudo")]
    return pseudo.LANGUAGE
