"""Text of people that runs from right to left stays in its own place on every page."""

import re

from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import ApiKey, User
from loops.models import Loop
from loops.services import create_loop
from reviews.markdown import render
from reviews.models import Request
from tests.browser.scene import Scene, set_the_scene
from tests.languages.pages import Piece, read_pieces, walk
from web.bidi import isolate

NAME = "קפה Levi (בע״מ)"
LOOP = "قسم Refunds (عاجل)"
QUESTION = "هل نعيد order #4821 (129 €)?\n\n- نعم, now\n- later לא\n\n> اقتباس: quote!"
OPTIONS = ["نعم: refund!", "לא, never.", "Half (نصف)"]
LETTER = re.compile("[\u0590-\u08ff]")
WITH_DIRECTION = {"bdi", "code", "pre"}  # styles/base.css: code runs from left to right


def place_of(piece: Piece) -> str:
    """Which faults a text has: nothing, or where it stands without a direction of its own."""
    directed = any(
        tag in WITH_DIRECTION or "dir" in attributes for tag, attributes in piece.around[1:]
    )
    if directed or "\u2068" in piece.text:
        return ""
    return f"{piece.attribute or piece.around[-1][0]}: {piece.text}"


def is_turned(piece: Piece) -> bool:
    """Whether a sentence of ours may take its direction from the name with which it begins."""
    is_auto = any(attributes.get("dir") == "auto" for _, attributes in piece.around[1:])
    return is_auto and piece.text.startswith("\u2068") and not piece.text.endswith("\u2069")


def mix(scene: Scene) -> None:
    """Gives everything that people name or write letters of both directions."""
    User.objects.update(name=NAME)
    Loop.objects.update(name=LOOP, description=f"{LOOP}: {NAME}")
    ApiKey.objects.update(name=f"{NAME} 1")
    Request.objects.filter(response_type="single_select").update(
        request_text=QUESTION,
        context={"لماذا why": ["قال: broken!", {"סכום": "129 €"}]},
        response_config={"options": [{"value": each, "label": each} for each in OPTIONS]},
        default_response=OPTIONS[2],
    )
    Request.objects.filter(status="completed", response_type="single_select").update(
        response_data=OPTIONS[0]
    )
    Request.objects.exclude(response_type="single_select").update(request_text=QUESTION)


def test_every_text_has_its_own_direction(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.browser.paths"
    scene = set_the_scene()
    mix(scene)
    faults, turned, seen = set(), set(), 0
    for stop, html in walk(scene):
        for piece in read_pieces(html):
            turned |= {f"{stop.title}: {piece.text}"} if is_turned(piece) else set()
            if LETTER.search(piece.text) and piece.attribute != "title":
                seen += 1
                faults |= {f"{stop.title}: {fault}" for fault in [place_of(piece)] if fault}
    assert seen > 200
    assert faults == set(), "\n".join(sorted(faults))
    assert turned == set(), "\n".join(sorted(turned))


def test_marks_only_where_they_are_needed() -> None:
    assert isolate("Refund desk") == "Refund desk"
    assert isolate(LOOP) == f"\u2068{LOOP}\u2069"


def test_the_parts_of_a_question_have_their_own_direction() -> None:
    html = render(QUESTION)
    assert '<ul dir="auto">' in html
    assert '<blockquote dir="auto">' in html
    assert '<table dir="auto">' in render("| a |\n|-|\n| b |")


def test_typed_words_take_their_direction(owner: User) -> None:
    client = Client()
    client.force_login(owner)
    page = client.get(reverse("new-loop")).content.decode()
    assert re.search(r'<input type="text" name="name"[^>]* dir="auto"', page)
    assert re.search(r'<textarea name="description"[^>]* dir="auto"', page)


def test_invitations_keep_names_apart(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(name=NAME)
    loop = create_loop(owner_id=owner.pk, name=LOOP, description="", icon="heart")
    client = Client()
    client.force_login(owner)
    client.post(reverse("invite-member", args=[loop.pk]), {"email": "grace@example.org"})
    (invitation,) = mail.outbox
    assert "\u2068קפה Levi" in invitation.subject
    assert "\u2068قسم Refunds" in str(invitation.body)
