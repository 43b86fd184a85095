"""The same call in curl, Python and JavaScript, with this service's address in it. Pure but for
the settings."""

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


def create_loop() -> list[tuple[str, str]]:
    """How a program makes a loop."""
    return tabs("/api/loops", {"name": "Refund desk", "icon": "shield-check"})


def ask(loop_id: str) -> list[tuple[str, str]]:
    """How a program asks the people of a loop."""
    return tabs(f"/api/loops/{loop_id}/requests", QUESTION)


def tabs(path: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """A POST in each language."""
    url = f"{settings.SITE_URL}/v1{path}"
    return [
        ("curl", curl(url, body)),
        ("Python", _PYTHON.format(url=json.dumps(url), body=python(body))),
        ("JavaScript", _JAVASCRIPT.format(url=json.dumps(url), body=indented(body, 2))),
    ]


def curl(url: str, body: dict[str, Any]) -> str:
    """A command for a POSIX shell: the body in single quotes, the key from the environment."""
    quoted = indented(body, 2).replace("'", "'\\''")
    return (
        f"curl {url} \\\n"
        f'  -H "Authorization: Bearer {KEY}" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d '{quoted}'"
    )


def indented(body: dict[str, Any], by: int) -> str:
    """JSON of which all lines but the first stand `by` blanks further in."""
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return text.replace("\n", "\n" + " " * by)


def python(value: Any, depth: int = 1) -> str:
    """A JSON value as Python writes it, objects and lists of objects over several lines."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict) and value:
        rows = (f"{inner}{json.dumps(k)}: {python(v, depth + 1)},\n" for k, v in value.items())
        return "{\n" + "".join(rows) + outer + "}"
    if isinstance(value, list):
        return "[" + ", ".join(python(each, depth) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
