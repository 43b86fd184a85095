"""Examples of a first call with a new key, in three languages."""

import json

from django.conf import settings

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
