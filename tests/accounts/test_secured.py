"""What a stranger has under way when the owner of the address secures the account."""

import threading
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection

from accounts import key_format
from accounts.key_services import NotRollable, create_api_key_once, roll_api_key
from accounts.models import PERMISSIONS, ApiKey, ReviewToken, User
from accounts.proofs import confirm_address
from accounts.secret_services import read_secrets, reveal_secrets, set_secret
from accounts.secured import AccountSecured
from accounts.services import create_account
from tests.accounts.test_key_services import HOUR
from tests.accounts.tokens import token_of
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
EMAIL = "nora@example.org"
ROUNDS = 20


def squat(email: str = EMAIL) -> User:
    """The account as a request of the stranger's has just read it."""
    user = create_account(email=email, password=PASSWORD)
    read_secrets(user.pk)
    return user


def make_key(user: User) -> ApiKey:
    return create_api_key_once(
        user=user,
        secret=key_format.new_key(),
        name="mine",
        permissions=list(PERMISSIONS),
        expires_at=None,
    )


@pytest.mark.parametrize(
    "move",
    [
        make_key,
        token_of,
        lambda user: reveal_secrets(account=user),
        lambda user: set_secret(account=user, text="known to me"),
    ],
)
def test_a_request_that_began_before_changes_nothing(move: Callable[[User], object]) -> None:
    stranger = squat()
    confirm_address(user=User.objects.get(), address=EMAIL)
    secret = read_secrets(stranger.pk)
    with pytest.raises(AccountSecured):
        move(stranger)
    assert not ApiKey.objects.exists()
    assert not ReviewToken.objects.exists()
    assert read_secrets(stranger.pk) == secret


def attack(move: Callable[[], object], start: threading.Barrier, broken: list[object]) -> None:
    try:
        start.wait()
        move()
    except (AccountSecured, NotRollable):
        pass
    except BaseException as error:
        broken.append(error)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rolls", [False, True])
def test_no_key_survives_that_is_made_at_the_same_moment(rolls: bool) -> None:
    for number in range(ROUNDS):
        stranger = squat(f"nora{number}@example.org")
        old = make_key(stranger)
        secret = key_format.new_key()
        roll = partial(roll_api_key, key=old, secret=secret, overlap=HOUR)
        start, broken = threading.Barrier(2, timeout=60), list[object]()
        move = roll if rolls else partial(make_key, stranger)
        thread = threading.Thread(target=attack, args=[move, start, broken])
        thread.start()
        owner = User.objects.get(pk=stranger.pk)
        start.wait()
        confirm_address(user=owner, address=owner.email)
        thread.join(60)
        assert broken == []
        states = ApiKey.objects.filter(user=owner).values_list("state", flat=True)
        assert set(states) == {"revoked"}
