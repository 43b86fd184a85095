"""Examples of API calls in curl, Python and JavaScript, with the URL of this service."""

import json
from typing import Any

from django.conf import settings

KEY = "$REVIEW_LOOP_KEY"
QUESTION: dict[str, Any] = {
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": "May I refund order 4821?",
    "timeout_seconds": 3600,
    "response_type": "single_select",
    "response_config": {"options": ["Refund", "Decline"]},
    "default_response": "Decline",
    "platform": "api",
}

_PYTHON = """import os, requests

answer = requests.post(
    {url},
    headers={{"Authorization": "Bearer " + os.environ["REVIEW_LOOP_KEY"]}},
    json={body},
)
print(answer.json())"""

_JAVASCRIPT = """const answer = await fetch({url}, {{
  method: "POST",
  headers: {{
    Authorization: "Bearer " + process.env.REVIEW_LOOP_KEY,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({body}),
}});
console.log(await answer.json());"""


_FIRST_CURL = """curl {url} \\
  -H "Authorization: Bearer {key}" -H "Content-Type: application/json" \\
  -d '{body}'"""

_FIRST_PYTHON = """import {modules}
answer = requests.post({url}, headers={{"Authorization": {bearer}}}, json={body})
print(answer.json())"""


def build_loop_tabs() -> list[tuple[str, str]]:
    """Builds examples that create a loop."""
    return build_tabs("/api/loops", {"name": "Refund desk", "icon": "shield-check"})


def build_ask_tabs(loop_id: str) -> list[tuple[str, str]]:
    """Builds examples that create a request in the loop."""
    return build_tabs(f"/api/loops/{loop_id}/requests", QUESTION)


def build_first_tabs(loop_id: str, key: str = KEY) -> list[tuple[str, str]]:
    """Builds the shortest programs that ask a question; they read the key from the environment."""
    is_known = key != KEY
    bearer = f'"Bearer {key}"' if is_known else '"Bearer " + os.environ["REVIEW_LOOP_KEY"]'
    modules = "requests" if is_known else "os, requests"
    url = json.dumps(f"{settings.SITE_URL}/v1/api/loops/{loop_id}/requests")
    body = json.dumps(QUESTION, ensure_ascii=False)
    return [
        ("curl", _FIRST_CURL.format(url=url, key=key, body=body.replace("'", "'\\''"))),
        ("Python", _FIRST_PYTHON.format(modules=modules, url=url, bearer=bearer, body=body)),
    ]


def build_tabs(path: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Builds a POST in each language."""
    url = f"{settings.SITE_URL}/v1{path}"
    return [
        ("curl", build_curl(url, body)),
        ("Python", _PYTHON.format(url=json.dumps(url), body=format_python(body))),
        ("JavaScript", _JAVASCRIPT.format(url=json.dumps(url), body=format_json(body, 2))),
    ]


def build_curl(url: str, body: dict[str, Any]) -> str:
    """Builds a POSIX shell command: the body in single quotes, the key from the environment."""
    quoted = format_json(body, 2).replace("'", "'\\''")
    return (
        f"curl {url} \\\n"
        f'  -H "Authorization: Bearer {KEY}" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d '{quoted}'"
    )


def format_json(body: dict[str, Any], by: int) -> str:
    """Formats JSON, with all lines but the first indented by `by` more spaces."""
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return text.replace("\n", "\n" + " " * by)


def format_python(value: Any, depth: int = 1) -> str:
    """Formats a JSON value as Python code, objects over several lines."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict) and value:
        rows = (
            f"{inner}{json.dumps(k)}: {format_python(v, depth + 1)},\n" for k, v in value.items()
        )
        return "{\n" + "".join(rows) + outer + "}"
    if isinstance(value, list):
        return "[" + ", ".join(format_python(each, depth) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
