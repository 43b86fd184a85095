"""Clients that use the service during faults: a program with a key, a person in the portal."""

from typing import Any

import requests

PATIENCE = 30.0  # seconds
QUESTION: dict[str, Any] = {
    "processing_type": "time-sensitive",
    "timeout_seconds": 60,
    "type": "markdown",
    "priority": "high",
    "request_text": "Still there?",
    "response_type": "text",
    "response_config": {},
    "default_response": "nobody",
    "platform": "api",
}


class Machine:
    """A caller of the API, with one loop of its own."""

    def __init__(self, site: str, key: str, loop_id: str) -> None:
        self.base = site + "/v1/api"
        self.loop_path = f"/loops/{loop_id}/requests"
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"

    def call(self, method: str, path: str, body: object = None) -> requests.Response:
        return self.session.request(method, self.base + path, json=body, timeout=PATIENCE)

    def post_question(self, **changes: Any) -> requests.Response:
        return self.call("POST", self.loop_path, {**QUESTION, **changes})

    def ask(self, **changes: Any) -> str:
        """The id of a new request."""
        answer = self.post_question(**changes)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["data"]["request_id"])

    def read(self, request_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/requests/{request_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["data"]["request"]
        return found

    def cancel(self, request_id: str) -> None:
        answer = self.call("DELETE", f"/requests/{request_id}")
        assert answer.status_code == 200, answer.text


class Person:
    """A reviewer in a browser without scripts."""

    def __init__(self, site: str, email: str, password: str) -> None:
        self.site = site
        self.session = requests.Session()
        self.session.get(site + "/accounts/login/", timeout=PATIENCE)
        response = self.post("/accounts/login/", login=email, password=password)
        assert response.status_code == 302, response.text

    def post(self, path: str, **fields: str) -> requests.Response:
        """Sends a form; redirects are answers here."""
        form = {"csrfmiddlewaretoken": self.session.cookies["csrftoken"], **fields}
        return self.session.post(
            self.site + path, data=form, timeout=PATIENCE, allow_redirects=False
        )

    def claim(self, request_id: str) -> requests.Response:
        return self.post(f"/inbox/{request_id}/claim/")

    def answer(self, request_id: str, text: str) -> requests.Response:
        """303 with `sent=` and the id in its target is the acknowledgement."""
        return self.post(f"/inbox/{request_id}/answer/", answer=text)

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.site + path, timeout=PATIENCE, allow_redirects=False)
