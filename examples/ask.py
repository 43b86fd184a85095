"""Asks people a question and waits for the answer: python ask.py "Shall we ship it today?"

REVIEW_LOOP_URL is the service's address, ending in /v1, and REVIEW_LOOP_KEY an API key.
"""

import os
import sys
import time
import uuid
from typing import Any

import requests

PASSING = (409, 429, 500, 502, 503, 504)  # failures that may be over when the call is repeated


def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Calls the API and returns `data`. After a failure that may pass, waits and tries again.

    The Idempotency-Key makes sure that nothing is created twice.
    """
    url, key = os.environ["REVIEW_LOOP_URL"] + path, os.environ["REVIEW_LOOP_KEY"]
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": str(uuid.uuid4())}
    pause = 1
    while True:
        try:
            response = requests.request(method, url, headers=headers, json=body, timeout=70)
        except (requests.ConnectionError, requests.Timeout) as error:
            wait, failure = pause, type(error).__name__
        else:
            if response.status_code not in PASSING:
                break
            wait, failure = int(response.headers.get("Retry-After", pause)), response.reason
        print(f"{failure}: trying again in {wait} s", file=sys.stderr, flush=True)
        time.sleep(wait)
        pause = min(2 * pause, 60)
    result = response.json()
    if result["error"]:
        sys.exit(f"{result['msg']} {result['data']}")
    return result["data"]


loop = next((loop for loop in call("GET", "/api/loops")["loops"] if loop["name"] == "Ask"), None)
if loop is None:
    created = call("POST", "/api/loops", {"name": "Ask", "icon": "chat"})
    loop = created["loop"]
    print("Who should answer joins at", created["join_url"], flush=True)
new_request = {
    "processing_type": "time-sensitive",
    "timeout_seconds": 3600,
    "type": "markdown",
    "priority": "high",
    "request_text": " ".join(sys.argv[1:]) or "Shall we ship it today?",
    "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]},
    "default_response": "no",
    "platform": "api",
}
request_id = call("POST", f"/api/loops/{loop['id']}/requests", new_request)["request_id"]
print("Asked:", new_request["request_text"], flush=True)
request, pause = {"status": "pending"}, 1
while request["status"] in ("pending", "claimed"):
    begun = time.monotonic()
    request = call("GET", f"/api/requests/{request_id}?wait=50")["request"]
    if request["status"] in ("pending", "claimed") and time.monotonic() - begun < 45:
        time.sleep(pause)  # too many calls wait already: this one was answered at once
        pause = min(2 * pause, 45)
print(f"{request['status']}: {request['response_data']}")
