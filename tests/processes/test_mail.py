"""`make run` with a mail server that is silent at first: no page waits, and the email comes."""

import re
from pathlib import Path

import requests

from tests.faults.service import PEOPLE, Service
from tests.mailing.mail_server import mail_server
from tests.waiting import wait_until

CODE = "/accounts/login/code/"
_WAITING = "SELECT failed_attempts, claim_id IS NOT NULL FROM mailing_queuedmail"


def test_a_sign_in_code_through_the_worker(tmp_path: Path) -> None:
    with mail_server() as server:
        server.is_silent = True
        service = Service(tmp_path / "data", EMAIL_URL=f"smtp://127.0.0.1:{server.port}")
        try:
            service.start()
            browser, site = requests.Session(), service.stack.site
            browser.get(site + CODE, timeout=30)
            form = {"csrfmiddlewaretoken": browser.cookies["csrftoken"], "email": PEOPLE[0]}
            answer = browser.post(site + CODE, data=form, timeout=30, allow_redirects=False)
            assert (answer.status_code, answer.headers["Location"]) == (302, CODE + "confirm/")
            wait_until(lambda: service.rows(_WAITING) == [(0, True)], 30)  # held by the worker
            wait_until(lambda: server.connections, 30)
            service.killed("worker")  # while the mail server says nothing
            server.is_silent = False
            service.rows(
                "UPDATE mailing_queuedmail SET next_attempt_at = now()"
            )  # the lease is over
            wait_until(lambda: server.got, 60)
            ((recipients, mail),) = server.got
            assert recipients == [PEOPLE[0]]
            body = mail.get_body(("plain",))
            assert body is not None
            assert re.search(r"(?m)^\d{6}\s*$", body.get_content())
            wait_until(lambda: not service.rows(_WAITING), 30)
        finally:
            service.discard()
