"""An account with a lot of data, in which every text has its maximal length."""

from accounts.models import User
from accounts.services import create_api_key
from loops.models import Loop
from loops.services import create_loop, invite_member, join_loop
from reviews import services
from tests.browser.scene import LABELS, REFUND, REPLY, Scene
from webhooks.models import Delivery

WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


def endless(length: int) -> str:
    """So many letters, and no blank among them."""
    return (WORD * (length // len(WORD) + 1))[:length]


def overfill(scene: Scene) -> None:
    """Leaves the ids of the longest things among the scene's."""
    loop = create_loop(
        owner_id=scene.owner.pk, name=endless(100), icon="star", description=endless(500)
    )
    join_loop(user=scene.member, code=loop.invite_code)
    User.objects.filter(pk=scene.member.pk).update(name=endless(100))
    User.objects.filter(pk=scene.owner.pk).update(email=f"{'x' * 60}@{'y' * 60}.example.org")
    for number in range(5):
        invite_member(loop=loop, email=f"{'x' * 60}{number}@{'y' * 60}.{'z' * 60}.example.org")
    for number in range(30):
        key, _ = create_api_key(user=scene.owner, name=endless(70 + number))
    scene.ids.update(loop=loop.pk, code=loop.invite_code, key=key.pk)
    ask_at_length(scene, loop)


def ask_at_length(scene: Scene, loop: Loop) -> None:
    options = [endless(200), *(f"{endless(30)} {number}" for number in range(9))]
    long = {
        **REFUND,
        "request_text": endless(2_000),
        "context": {endless(80): {endless(80): [endless(400)] * 3}},
        "response_config": {"options": options},
        "default_response": endless(200),
        "callback_url": f"https://agent.example/{'path' * 400}",
    }
    words = "A sentence of some words, as people write them, and one more behind it. "
    told = {**REPLY, "request_text": (words * 40)[:2_000], "default_response": (words * 9)[:600]}
    marked = {
        **LABELS,
        "request_text": f"# {endless(300)}\n\n| a | b |\n|-|-|\n| {endless(90)} | c |",
    }
    critical, text, labels = (scene.ask(loop, each) for each in (long, told, marked))
    answered = scene.ask(loop, long)
    services.answer_request(request=answered, reviewer_id=scene.member.pk, answer=options[0])
    feedback = {"rating": 5, "comment": endless(1_000), "tags": [endless(50)] * 5}
    services.add_feedback(request=services.read_request(answered.pk), feedback=feedback)
    scene.ids.update(
        critical=critical.pk, text=text.pk, labels=labels.pk, answered=answered.pk,
        delivery=Delivery.objects.filter(subject_id=answered.pk).latest("created_at").pk,
    )  # fmt: skip
