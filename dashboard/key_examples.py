"""Builds examples of a first call with a new key in three languages, and of agent settings."""

import json

from django.conf import settings

_NAME = "review-loop"
_PYTHON = """import requests

answer = requests.get(
    {url},
    headers={{"Authorization": "Bearer {key}"}},
)
print(answer.json())"""

_JAVASCRIPT = """const answer = await fetch({url}, {{
  headers: {{ Authorization: "Bearer {key}" }},
}});
console.log(await answer.json());"""


def build_tabs(key: str) -> list[tuple[str, str]]:
    """Builds examples of GET /test, which returns the key's owner and permissions."""
    url = f"{settings.SITE_URL}/v1/test"
    return [
        ("curl", f'curl {url} \\\n  -H "Authorization: Bearer {key}"'),
        ("Python", _PYTHON.format(url=json.dumps(url), key=key)),
        ("JavaScript", _JAVASCRIPT.format(url=json.dumps(url), key=key)),
    ]


def build_agent_tabs(key: str) -> list[tuple[str, str]]:
    """Builds the commands and settings files that connect agents to MCP."""
    url = f"{settings.SITE_URL}/mcp"
    server = {"url": url, "headers": {"Authorization": f"Bearer {key}"}}
    typed = {"type": "http", **server}
    command = (
        f"claude mcp add --transport http {_NAME} {url} \\\n"
        f'  --header "Authorization: Bearer {key}"'
    )
    return [
        ("Claude", command),
        ("Cursor", _format({"mcpServers": {_NAME: server}})),
        ("VS Code", _format({"servers": {_NAME: typed}})),
        ("JSON", _format({"mcpServers": {_NAME: typed}})),
    ]


def _format(value: object) -> str:
    return json.dumps(value, indent=2)
