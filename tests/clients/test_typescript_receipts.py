"""Receipts of clients/typescript: read, redeemed and verified with pinned keys, also by jose."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings

from accounts.models import User
from reviews.canonical import compute_digest
from tests.clients.conftest import finish
from tests.clients.gate import Gate
from tests.clients.receipts import ISSUER, MALFORMED, claims, forgeries, new_key, public, sign
from tests.clients.schema import TYPESCRIPT
from tests.clients.test_typescript_client import project, result, run_node
from tests.reviews.approvals import ARGUMENTS, decide, turn_into_approval
from tests.reviews.conftest import Make, make

__all__ = ["make", "project"]  # fixtures
KEY = new_key()


def run(project: Path, **scenario: Any) -> Any:
    variables = {name: scenario.pop(name) for name in ("URL", "KEY") if name in scenario}
    return result(run_node(["receipt.js"], project, SCENARIO=json.dumps(scenario), **variables))


@pytest.mark.django_db(transaction=True)
def test_it_verifies_and_is_redeemed_once(
    project: Path, service: str, gate: Gate, key: str, make: Make, member: User
) -> None:
    request = make()
    turn_into_approval(request.pk)
    decide(request.pk, member)
    keys = requests.get(f"{service}/.well-known/jwks.json", timeout=30).json()
    done = run(
        project, name="redeem", id=request.pk, keys=keys, issuer=settings.SITE_URL,
        arguments=ARGUMENTS, URL=gate.url, KEY=key,
    )  # fmt: skip
    assert done["claims"] == done["independent"]
    assert done["claims"]["sub"] == request.pk
    assert done["path"] == "arguments.order"
    assert done["otherPath"] == "name"
    assert done["isSame"] is True
    assert done["noNumber"] == "RangeError: JSON has no number Infinity"
    assert done["redeemedAt"] is not None
    assert done["again"] == done["replay"] == done["redeemedAt"]
    assert len(gate.keys()) == 5  # no refusal is repeated


@pytest.mark.django_db(transaction=True)
def test_the_sample_of_its_readme(
    project: Path, service: str, gate: Gate, key: str, make: Make, member: User
) -> None:
    text = (TYPESCRIPT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```js\n(.*?)^```", text, re.M | re.S)
    (sample,) = [block for block in blocks if "runOnce" in block]
    request = make()
    turn_into_approval(request.pk)
    decide(request.pk, member)
    keys = requests.get(f"{service}/.well-known/jwks.json", timeout=30).text
    client = json.dumps({"url": gate.url, "key": key})
    rest = f"{keys}, {json.dumps(settings.SITE_URL)}, (args) => console.log(args.amount)"
    call = f"""
import {{ Client }} from "reviewloop";
await runOnce(new Client({client}), "{request.pk}", "refund", {json.dumps(ARGUMENTS)}, {rest});
"""
    (project / "redeems.mjs").write_text(sample + call)
    assert finish(run_node(["redeems.mjs"], project))[:2] == (0, "40\n")
    assert finish(run_node(["redeems.mjs"], project))[0] != 0


def test_what_it_accepts_and_what_it_does_not(project: Path) -> None:
    token, names = sign(KEY, claims()), forgeries(KEY)
    sets: list[Any] = [public(KEY), [public(new_key()), public(KEY)], {"keys": [public(KEY)]}]
    good = [
        {"token": token, "keys": keys, "args": args}
        for keys in sets
        for args in (ARGUMENTS, dict(reversed(ARGUMENTS.items())), "any")
    ]
    bad: list[dict[str, Any]] = [
        {"token": each, "keys": public(KEY), "args": ARGUMENTS} for each in names.values()
    ]
    wrong: list[Any] = [{"keys": []}, {"kty": "EC", "crv": "P-256", "kid": KEY.kid}, *MALFORMED]
    bad += [{"token": token, "keys": keys, "args": "any"} for keys in wrong]
    bad += [
        {"token": token, "keys": public(KEY), "args": args}
        for args in ({"amount": 2**53}, {"a": "\ud800"}, {"\ud800": 1})
    ]
    found = run(project, name="verify", tokens=[*good, *bad], issuer=ISSUER)
    assert found[: len(good)] == ["a" * 24] * len(good)
    refused = dict(zip([*names, *range(5 + len(MALFORMED))], found[len(good) :], strict=True))
    assert {name for name, what in refused.items() if what != "InvalidReceipt"} == set()


def test_it_is_for_one_call(project: Path) -> None:
    expected = {"name": "refund", "loopId": "b" * 24, "requestId": "a" * 24}
    wrong = [{**expected, check: other} for check in expected for other in ("another", "", None)]
    tokens = [
        {"token": sign(KEY, claims()), "keys": public(KEY), "args": ARGUMENTS, "more": more}
        for more in ({}, expected, *wrong)
    ]
    found = run(project, name="verify", tokens=tokens, issuer=ISSUER)
    assert found == ["a" * 24] * 2 + ["InvalidReceipt"] * len(wrong)


@pytest.mark.contract("receipt.leeway")
def test_clocks_may_differ_by_a_minute(project: Path) -> None:
    stated = claims(iat=1000, exp=2000)
    moments = [(940, {}), (2059, {}), (939, {}), (2060, {}), (1000, {"leeway": 0}),
               (2000, {"leeway": 0})]  # fmt: skip
    tokens = [
        {"token": sign(KEY, stated), "keys": public(KEY), "args": ARGUMENTS,
         "more": {"now": now, **more}}
        for now, more in moments
    ]  # fmt: skip
    found = run(project, name="verify", tokens=tokens, issuer=ISSUER)
    valid, refused = "a" * 24, "InvalidReceipt"
    assert found == [valid, valid, refused, refused, valid, refused]


def test_nothing_is_not_anything(project: Path) -> None:
    """`decision.arguments` is undefined where nobody approved. NaN is null in JSON."""
    of_null = sign(KEY, claims(arguments_sha256=compute_digest({"amount": None})))
    of_nulls = sign(KEY, claims(arguments_sha256=compute_digest({"lines": [None]})))
    nothing: list[Any] = [None, "undefined", []]
    given = [(sign(KEY, claims()), each) for each in nothing]
    given += [(of_null, "NaN"), (of_nulls, "Infinity")]
    tokens = [{"token": token, "keys": public(KEY), "args": args} for token, args in given]
    tokens += [
        {"token": sign(KEY, claims(iss=iss)), "keys": public(KEY), "args": ARGUMENTS, "more": more}
        for iss, more in (("", {"issuer": ""}), (None, {"issuer": None}))
    ]
    assert run(project, name="verify", tokens=tokens, issuer=ISSUER) == ["InvalidReceipt"] * 7


ARGUMENTS_OF_ALL_KINDS: dict[str, Any] = {
    "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7,
    "__proto__": {"b": [], "a": {}}, "numbers": [1e-7, 0.1, -0.0, 333333333.33333329, 1e15, 5e-324],
    "text": "\u20ac$\x0f\nA'\"\\/\u2028", "no": None, "yes": True, "10": 1, "9": 2,
}  # fmt: skip


def test_both_write_arguments_in_the_same_form(project: Path) -> None:
    token = sign(KEY, claims(arguments_sha256=compute_digest(ARGUMENTS_OF_ALL_KINDS)))
    tokens = [{"token": token, "keys": public(KEY), "args": ARGUMENTS_OF_ALL_KINDS}]
    assert run(project, name="verify", tokens=tokens, issuer=ISSUER) == ["a" * 24]
