"""A first call with a key that was just made, in three languages."""

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


def try_it(key: str) -> list[tuple[str, str]]:
    """GET /test, which says whose key it is and what it may do."""
    url = f"{settings.SITE_URL}/v1/test"
    return [
        ("curl", f'curl {url} \\\n  -H "Authorization: Bearer {key}"'),
        ("Python", _PYTHON.format(url=json.dumps(url), key=key)),
        ("JavaScript", _JAVASCRIPT.format(url=json.dumps(url), key=key)),
    ]
