"""The join pages: the link, the code, the QR code, and guessing (docs/contract.md, `invite`)."""

import io
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import zxingcpp
from django.test import Client
from PIL import Image
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from loops.invite_codes import ALPHABET
from loops.models import Loop, Membership
from loops.services import create_loop, rotate_invite_code
from reviews.services import delete_loop
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db
UNKNOWN = ALPHABET[:12]


def test_a_stranger_reads_who_invites_to_what(loop: Loop) -> None:
    Loop.objects.filter(pk=loop.pk).update(description="Who gets\nmoney back?")
    response = Client().get(f"/join/{loop.invite_code}")
    page = words(response)
    assert "Owner invites you to the loop Refund desk" in page
    assert "Who gets money back?" in page
    for target in ("signup", "login"):
        link = f'href="/accounts/{target}/?next=/join/{loop.invite_code}"'
        assert link in response.content.decode()
    assert "<form" not in response.content.decode()


def test_one_post_joins(outsider: User, loop: Loop) -> None:
    response = signed_in(outsider).post(f"/join/{loop.invite_code}", follow=True)
    assert response.redirect_chain == [("/inbox/", 302)]
    assert "You’ve joined Refund desk." in words(response)
    assert Membership.objects.get(loop=loop, user=outsider).status == "active"


def test_a_member_is_told_so(member: User, loop: Loop) -> None:
    browser = signed_in(member)
    response = browser.get(f"/join/{loop.invite_code}")
    assert "You’re already a member of this loop." in words(response)
    assert "<form" not in response.content.decode()
    assert browser.post(f"/join/{loop.invite_code}").status_code == 302
    assert Membership.objects.filter(loop=loop).count() == 2


def test_a_post_without_an_account_leads_to_sign_in_and_back(loop: Loop) -> None:
    response = Client().post(f"/join/{loop.invite_code.lower()}")
    assert response["Location"] == f"/accounts/login/?next=/join/{loop.invite_code}"


def test_joining_needs_the_pages_own_token(outsider: User, loop: Loop) -> None:
    response = signed_in(outsider, enforce_csrf_checks=True).post(f"/join/{loop.invite_code}")
    assert response.status_code == 403
    assert "Nothing was sent." in words(response)
    assert not Membership.objects.filter(user=outsider).exists()


def test_codes_that_open_nothing_look_alike(owner: User, outsider: User, loop: Loop) -> None:
    retired = loop.invite_code
    rotate_invite_code(loop=loop)
    deleted = create_loop(owner_id=owner.pk, name="Gone", icon="x")
    delete_loop(loop_id=deleted.pk, account_id=deleted.creator_id)
    codes = [retired, UNKNOWN, deleted.invite_code, "short", "a\0b", "💥" * 12]
    for browser in (Client(), signed_in(outsider)):
        answers = [browser.get(f"/join/{code}") for code in codes]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1
        assert "That code isn’t valid" in words(answers[0])
    posted = signed_in(outsider).post(f"/join/{retired}")
    assert (posted.status_code, words(posted)) == (404, words(answers[0]))


@pytest.mark.parametrize("typed", ["{}", " {} ", "http://testserver/join/{}", "http://x/join/{}/"])
def test_a_code_is_typed_in_any_form(loop: Loop, typed: str) -> None:
    code = loop.invite_code.lower()
    for written in (code, f"{code[:4]}-{code[4:8]} {code[8:]}"):
        response = Client().post("/join/", {"code": typed.format(written)})
        assert response["Location"] == f"/join/{loop.invite_code}"


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ("", "Enter the code"),
        ("ABC", "Codes have 12 characters and never contain I, L, O, 0 or 1"),
        ("IIIIIIIIIIII", "Codes have 12 characters and never contain I, L, O, 0 or 1"),
        ("<b>" * 20, "Codes have 12 characters and never contain I, L, O, 0 or 1"),
        ("\0", "Null characters are not allowed."),
    ],
)
def test_what_is_no_code_is_said_beside_the_field(db: None, typed: str, fault: str) -> None:
    response = Client().post("/join/", {"code": typed})
    page = response.content.decode()
    assert response.status_code == 422
    assert fault in words(response)
    assert 'aria-invalid="true"' in page
    assert 'aria-describedby="id_code_helptext id_code_error"' in page
    assert "<b><b>" not in page


def test_names_are_escaped(owner: User) -> None:
    owner.name = "<i>Owner"
    owner.save()
    made = create_loop(owner_id=owner.pk, name="<b>Loop", icon="x", description="<u>why")
    page = Client().get(f"/join/{made.invite_code}").content.decode()
    assert not any(tag in page for tag in ("<i>", "<b>", "<u>"))


def test_guessing_from_one_address_ends(loop: Loop, settings: Settings) -> None:
    settings.JOIN_CODE_RATE = "3/h"
    browser = Client()
    for _ in range(3):
        assert browser.get(f"/join/{UNKNOWN}").status_code == 404
    for path in (f"/join/{UNKNOWN}", f"/join/{loop.invite_code}", f"/qr/{loop.invite_code}.png"):
        response = browser.get(path)
        assert response.status_code == 429
        assert "Too many attempts" in words(response)
        assert 0 < int(response["Retry-After"]) <= 3600
    assert browser.get(f"/join/{loop.invite_code}", REMOTE_ADDR="192.0.2.7").status_code == 200


def test_guessing_by_one_person_ends_wherever_they_are(
    outsider: User, member: User, loop: Loop, settings: Settings
) -> None:
    settings.JOIN_CODE_RATE = "3/h"
    browser = signed_in(outsider)
    for host in range(3):
        response = browser.post(f"/join/{UNKNOWN}", REMOTE_ADDR=f"192.0.2.{host}")
        assert response.status_code == 404
    path = f"/join/{loop.invite_code}"
    assert browser.post(path, REMOTE_ADDR="192.0.2.9").status_code == 429
    assert signed_in(member).get(path, REMOTE_ADDR="192.0.2.9").status_code == 200


def test_a_whole_office_may_join(loop: Loop, settings: Settings) -> None:
    settings.JOIN_CODE_RATE = "3/h"
    answers = [Client().get(f"/join/{loop.invite_code}") for _ in range(10)]
    assert {answer.status_code for answer in answers} == {200}


def test_without_its_cache_the_throttle_lets_people_in(
    outsider: User, loop: Loop, settings: Settings, tmp_path: Path
) -> None:
    cache: dict[str, Any] = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone"}
    settings.CACHES = {"default": cache}
    settings.JOIN_CODE_RATE = "1/h"
    browser = signed_in(outsider)
    assert [browser.get(f"/join/{UNKNOWN}").status_code for _ in range(4)] == [404] * 4
    assert browser.post(f"/join/{loop.invite_code}").status_code == 302


def test_the_qr_code_needs_no_account(loop: Loop) -> None:
    for code in (loop.invite_code, loop.invite_code.lower()):
        response = Client().get(f"/qr/{code}.png")
        assert (response.status_code, response["Content-Type"]) == (200, "image/png")
        assert "private" in response["Cache-Control"]
        (read,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(response.content)))
        assert read.text == loop.join_url


def test_an_unknown_qr_code_is_not_found(loop: Loop) -> None:
    retired = loop.invite_code
    rotate_invite_code(loop=loop)
    answers = [Client().get(f"/qr/{code}.png") for code in (retired, UNKNOWN, "x", "%00")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


def test_statements(
    outsider: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(outsider)
    with django_assert_num_queries(1):
        Client().get(f"/join/{loop.invite_code}")
    with django_assert_num_queries(1):
        Client().get(f"/qr/{loop.invite_code}.png")
    with django_assert_num_queries(4):  # session, person, loop, membership
        browser.get(f"/join/{loop.invite_code}")


PASTED = [
    "{code}/", "{code}.", "<{code}>", "“{code}”", "https://x.example/join/{code}?utm=1",
    "{dashed}", "{wide}", "{code}\u200b",
]  # fmt: skip


def _paste(loop: Loop, shape: str) -> str:
    code = loop.invite_code
    wide = code.translate({each: each + 0xFEE0 for each in range(0x21, 0x7F)})
    return shape.format(code=code, dashed=f"{code[:4]}–{code[4:8]}\u2011{code[8:]}", wide=wide)


@pytest.mark.parametrize("shape", PASTED)
def test_a_pasted_code_is_understood(outsider: User, loop: Loop, shape: str) -> None:
    response = signed_in(outsider).post("/join/", {"code": _paste(loop, shape)})
    assert response["Location"] == f"/join/{loop.invite_code}"


@pytest.mark.parametrize("shape", [each for each in PASTED if "//" not in each])
@pytest.mark.parametrize("end", ["", "?utm=1"])
def test_a_pasted_link_is_understood(outsider: User, loop: Loop, shape: str, end: str) -> None:
    path = quote(f"/join/{_paste(loop, shape)}")
    response = signed_in(outsider).get(path + end)
    assert response.status_code == 200
    assert f'action="/join/{loop.invite_code}"' in response.content.decode()
