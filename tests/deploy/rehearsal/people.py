"""People in browsers without scripts, and a program with a key, all of them behind nginx."""

import html
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.api import bodies
from tests.deploy.rehearsal.clock import Tries

PASSWORD = "correct horse battery"
PATIENCE = 70.0  # seconds
TRIES = 8  # of a call; our libraries wait in between, too
PAUSE = 0.25  # seconds
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(.+?)"')
QUESTION = {**bodies.QUESTION, **bodies.TYPES["single_select"]}
HEALED = (502, 503, 504)  # another try of the same call heals them


@dataclass
class Caller:
    """Somebody behind nginx, whose certificate is checked. Remembers every call."""

    site: str
    authority: str
    tries: Tries = field(default_factory=Tries)
    session: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.session.trust_env = False  # its certificates would win over ours
        self.session.verify = self.authority

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """A call that is tried again where our libraries try again."""
        for count in range(TRIES):
            begun = time.monotonic()
            try:
                response = self.session.request(
                    method, self.site + path, timeout=PATIENCE, allow_redirects=False, **options
                )
            except requests.ConnectionError as error:
                self.tries.note(method, path, time.monotonic() - begun, type(error).__name__)
            else:
                self.tries.note(method, path, time.monotonic() - begun, response.status_code)
                if response.status_code not in HEALED:
                    self.tries.healed += bool(count)
                    return response
            time.sleep(PAUSE * (count + 1))
        raise AssertionError(f"{method} {path} failed {TRIES} times")


@dataclass
class Browser(Caller):
    """A person, signed in after `sign_up`."""

    def open(self, path: str) -> str:
        """The page, after its redirects."""
        response = self.call("GET", path)
        while response.is_redirect:
            response = self.call("GET", response.headers["Location"].removeprefix(self.site))
        assert response.ok, (path, response.status_code, response.text[:2000])
        return html.unescape(response.text)

    def send(self, path: str, page: str = "", **fields: Any) -> requests.Response:
        """Sends the form that stands on a page."""
        token = TOKEN.search(self.open(page or path))
        assert token, f"{page or path} has no form"
        return self.call(
            "POST",
            path,
            data={"csrfmiddlewaretoken": token[1], **fields},
            headers={"Referer": self.site + (page or path)},
        )

    def sign_up(self, name: str, email: str, path: str = "") -> None:
        sent = self.send("/accounts/signup/", name=name, email=email, password1=PASSWORD, next=path)
        assert sent.status_code == 302, sent.text
        assert self.is_signed_in(email)

    def sign_in(self, email: str) -> None:
        assert self.send("/accounts/login/", login=email, password=PASSWORD).is_redirect

    def is_signed_in(self, email: str) -> bool:
        return email in self.open("/dashboard/account/")

    def is_known_at(self, address: str) -> bool:
        """Whether one web server takes the session; the call looks as nginx makes it."""
        page = requests.get(
            f"http://{address}/dashboard/account/",
            headers={
                "Host": self.site.removeprefix("https://"),
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": "127.0.0.1",
                "Cookie": "; ".join(f"{each.name}={each.value}" for each in self.session.cookies),
            },
            allow_redirects=False,
            timeout=PATIENCE,
        )
        return page.status_code == 200

    def make_loop(self) -> tuple[str, str]:
        """The id and the code of a new loop, made with the checklist of a new account."""
        made = self.send("/dashboard/setup/loop/", page="/dashboard/", name="Editors", icon="star")
        assert made.status_code in (302, 303), made.text
        found = re.search(r"/dashboard/loops/([0-9a-f]{24})/", self.open("/dashboard/loops/"))
        assert found
        code = re.search(r"/join/(\w+)", self.open(f"/dashboard/loops/{found[1]}/"))
        assert code
        return found[1], code[1]

    def make_key(self) -> str:
        """A key for a program, which the page shows once to who gives the password again."""
        assert self.send("/accounts/reauthenticate/", password=PASSWORD).is_redirect
        page = self.open("/dashboard/keys/new/")
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token
        granted = re.findall(r'name="permissions" value="([^"]+)"', page)
        made = self.send(
            "/dashboard/keys/new/", name="Program", permissions=granted, token=token[1]
        )
        assert made.status_code in (302, 303), made.text
        key = re.search(r"(rl_live_[0-9A-Za-z]{36})", self.open(made.headers["Location"]))
        assert key
        return key[1]

    def join(self, code: str) -> None:
        assert self.send(f"/join/{code}").status_code in (302, 303)

    def answer(self, request_id: str, text: str) -> bool:
        """Answers a question; false where the page takes no answer any more."""
        path = f"/inbox/{request_id}/"
        if f'action="{path}answer/"' not in self.open(path):
            return False
        sent = self.send(f"{path}answer/", page=path, answer=text)
        return sent.status_code == 303


@dataclass
class Program(Caller):
    """Asks, waits for the answer, and hears of it by webhook."""

    key: str = ""
    loop: str = ""
    callback: str = ""

    def ask(self, **fields: Any) -> str:
        """The id of a new request; every try has the same Idempotency-Key."""
        made = self.call(
            "POST",
            f"/v1/api/loops/{self.loop}/requests",
            json={**QUESTION, "callback_url": self.callback, **fields},
            headers={**self.headers, "Idempotency-Key": str(uuid.uuid4())},
        )
        assert made.status_code == 201, made.text
        return str(made.json()["data"]["request_id"])

    def read(self, request_id: str, wait: int = 0) -> dict[str, Any]:
        path = f"/v1/api/requests/{request_id}" + (f"?wait={wait}" if wait else "")
        answer = self.call("GET", path, headers=self.headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["data"]["request"]
        return found

    def wait_for(self, request_id: str, is_over: Callable[[], bool]) -> dict[str, Any]:
        """The request once it has ended."""
        while True:
            found = self.read(request_id, wait=10)
            if found["status"] != "pending" or is_over():
                return found

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}
