"""The end of standing grants: uses, time, revocation, people, loops, accounts, also in races."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.db.models.functions import Now

from accounts import proofs
from accounts.models import ApiKey, AuditEntry, User
from accounts.operator_services import switch_account
from loops.models import Loop, Membership
from loops.services import join_loop, lock_loop
from reviews import erasing, grants, retention, services
from reviews.grants import InvalidGrant, Terms
from reviews.models import Grant, Request
from reviews.person_export import SECTIONS
from tests.backends import waiting_for_locks
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.grants import Agent, allow, is_covered
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(owner: User, loop: Loop) -> Agent:
    return Agent(owner, loop)


class TestEnd:
    @pytest.mark.contract("grant.end")
    def test_its_uses(self, agent: Agent, member: User) -> None:
        allow(agent.ask(), member, Terms(hours=8, uses=2))
        assert [is_covered(agent.ask()) for _ in range(3)] == [True, True, False]

    @pytest.mark.contract("grant.end")
    def test_its_time(self, agent: Agent, member: User) -> None:
        grant = allow(agent.ask(), member)
        span = grant.expires_at - grant.created_at
        assert timedelta(hours=7, minutes=59) < span < timedelta(hours=8, minutes=1)
        Grant.objects.update(expires_at=Now())
        assert not is_covered(agent.ask())

    @pytest.mark.contract("grant.revoke")
    def test_it_is_revoked(self, agent: Agent, owner: User, member: User) -> None:
        for actor in (member, owner):
            grant = allow(agent.ask({"of": actor.pk}), member)
            assert grants.revoke(grant, actor_id=actor.pk)
            assert not grants.revoke(grant, actor_id=actor.pk)
            assert not is_covered(agent.ask({"of": actor.pk}))
        made = AuditEntry.objects.filter(account=owner, action__startswith="grant")
        assert list(made.order_by("created_at", "id").values_list("action", "actor__name")) == [
            ("grant.created", "Member"),
            ("grant.revoked", "Member"),
            ("grant.created", "Member"),
            ("grant.revoked", "Owner"),
        ]

    @pytest.mark.contract("grant.end")
    def test_with_the_membership(self, agent: Agent, owner: User, member: User, loop: Loop) -> None:
        allow(agent.ask(), member)
        services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
        assert not is_covered(agent.ask())
        join_loop(user=member, code=Loop.objects.get(pk=loop.pk).invite_code)
        assert not is_covered(agent.ask())

    @pytest.mark.contract("grant.end")
    def test_the_account_of_its_person_is_switched_off(
        self, agent: Agent, owner: User, member: User
    ) -> None:
        allow(agent.ask(), member)
        assert is_covered(agent.ask())
        switch_account(account=member, is_active=False, actor=owner)
        assert not is_covered(agent.ask())
        switch_account(account=member, is_active=True, actor=owner)
        assert not is_covered(agent.ask())
        allow(agent.ask(), member)
        assert is_covered(agent.ask())

    @pytest.mark.contract("grant.end")
    def test_the_account_of_its_person_is_secured(self, agent: Agent, member: User) -> None:
        allow(agent.ask(), member)
        with transaction.atomic():
            proofs.secure_account(member, member.email, None, keep_password=True)
        assert not is_covered(agent.ask())

    @pytest.mark.contract("grant.end")
    def test_the_lists_say_that_it_is_over(
        self, agent: Agent, owner: User, member: User, loop: Loop
    ) -> None:
        grant = allow(agent.ask(), member)

        def is_running() -> bool:
            shown: Grant = Grant.objects.with_clock().get(pk=grant.pk)
            return shown.is_running

        assert is_running()
        for model, columns in (
            (Loop, {"deleted_at": Now()}),
            (ApiKey, {"state": "revoked"}),
            (ApiKey, {"state": "deleted"}),
            (User, {"grants_ended_at": Now()}),
            (Grant, {"uses": 3}),
            (Grant, {"expires_at": Now()}),
            (Grant, {"revoked_at": Now()}),
        ):
            with transaction.atomic():
                model._default_manager.update(**columns)
                assert not is_running(), columns
                transaction.set_rollback(True)
        assert is_running()

    @pytest.mark.contract("grant.end")
    def test_the_owner_forbids_them(self, agent: Agent, member: User, loop: Loop) -> None:
        allow(agent.ask(), member)
        services.update_loop(loop=loop, changes={"forbids_grants": True})
        assert not is_covered(agent.ask())
        with pytest.raises(InvalidGrant, match="This loop allows no calls for a while"):
            allow(agent.ask(), member)
        services.update_loop(loop=Loop.objects.get(), changes={"forbids_grants": False})
        assert not is_covered(agent.ask())

    @pytest.mark.contract("grant.end")
    def test_the_owner_forbids_them_by_api(self, agent: Agent, member: User, loop: Loop) -> None:
        allow(agent.ask(), member)
        api, path = Api(agent.key), f"/v1/api/loops/{loop.pk}"
        shown = api.put(path, {"forbids_grants": True}).json()["data"]["loop"]
        assert shown["forbids_grants"] is True
        assert Grant.objects.get().revoked_at is not None
        shown = api.put(path, {"forbids_grants": False}).json()["data"]["loop"]
        assert "forbids_grants" not in shown
        assert not is_covered(agent.ask())


class TestRemoval:
    def test_with_the_request_from_which_it_came(
        self, agent: Agent, member: User, owner: User, loop: Loop
    ) -> None:
        request = agent.ask()
        allow(request, member)
        covered = agent.ask()
        retention.remove_requests(owner.pk, [(request.pk, 0)])
        assert not Grant.objects.exists()
        shown = Api(agent.key).get(f"/v1/api/requests/{covered.pk}").json()["data"]["request"]
        assert shown["answered_by"] == "grant"

    def test_with_the_account(self, agent: Agent, member: User, owner: User) -> None:
        allow(agent.ask(), member)
        erasing.begin(person=owner)
        assert erasing.finish(owner.pk, until=float("inf"))
        assert not Grant.objects.exists()

    def test_a_person_who_is_erased(self, agent: Agent, member: User, owner: User) -> None:
        grant = allow(agent.ask(), member)
        erasing.begin(person=member)
        assert erasing.finish(member.pk, until=float("inf"))
        grant.refresh_from_db()
        assert grant.revoked_at is not None
        assert not is_covered(agent.ask())
        assert "Member" not in words(signed_in(owner).get("/dashboard/grants/"))

    @pytest.mark.parametrize("whose", ["member", "owner"])
    def test_both_find_it_in_their_export(
        self, agent: Agent, member: User, owner: User, whose: str
    ) -> None:
        grant = allow(agent.ask(), member)
        read = SECTIONS["grants"](member if whose == "member" else owner)
        rows = [json.loads(row) for row in read]
        assert [(row["id"], row["call"], row["uses"]) for row in rows] == [(grant.pk, "refund", 0)]


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def begin(self, action: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
        results: list[Any] = []

        def run() -> None:
            try:
                results.append(action())
            finally:
                connections.close_all()

        thread = threading.Thread(target=run)
        thread.start()
        return thread, results

    @pytest.mark.contract("grant.end")
    def test_one_use_left_fifty_times(self, agent: Agent, member: User) -> None:
        won = []
        for number in range(50):
            arguments = {"number": number}
            allow(agent.ask(arguments), member, Terms(hours=1, uses=1))
            start = threading.Barrier(3, timeout=60)

            def ask(arguments: Any = arguments, start: Any = start) -> bool:
                start.wait()
                return is_covered(agent.copy().ask(arguments))

            asking = [self.begin(ask) for _ in range(3)]
            for thread, _ in asking:
                thread.join()
            won.append(sum(covered for _, (covered,) in asking))
        assert won == [1] * 50
        assert set(Grant.objects.values_list("uses", flat=True)) == {1}

    @pytest.mark.contract("grant.revoke")
    @pytest.mark.parametrize("how", ["revoked", "removed", "forbidden", "switched off"])
    def test_no_use_after_its_end_has_returned(
        self, agent: Agent, owner: User, member: User, loop: Loop, how: str
    ) -> None:
        late = []
        for number in range(50 if how == "revoked" else 10):
            arguments = {"number": number}
            if how != "revoked":
                Loop.objects.update(forbids_grants=False)
                User.objects.update(is_active=True)
                if not Membership.objects.filter(user=member).exists():
                    join_loop(user=member, code=Loop.objects.get().invite_code)
            grant = allow(agent.ask(arguments), member, Terms(hours=1, uses=100))
            ends: dict[str, Callable[[], Any]] = {
                "revoked": lambda grant=grant: grants.revoke(grant, actor_id=member.pk),  # type: ignore[misc]
                "removed": lambda: services.remove_member(
                    loop_id=loop.pk, account_id=owner.pk, member_id=member.pk
                ),
                "forbidden": lambda: services.update_loop(
                    loop=Loop.objects.get(), changes={"forbids_grants": True}
                ),
                "switched off": lambda: switch_account(
                    account=member, is_active=False, actor=owner
                ),
            }
            start = threading.Barrier(4, timeout=60)

            def ask(arguments: Any = arguments, start: Any = start) -> bool:
                start.wait()
                return is_covered(agent.copy().ask(arguments))

            asking = [self.begin(ask) for _ in range(3)]
            start.wait()
            ends[how]()
            before = Request.objects.filter(grant=grant).count()
            for thread, _ in asking:
                thread.join()
            late.append(Request.objects.filter(grant=grant).count() - before)
        assert sum(late) == 0

    @pytest.mark.contract("grant.end")
    def test_a_grant_under_way_is_not_left_when_the_owner_forbids_them(
        self, agent: Agent, member: User, loop: Loop
    ) -> None:
        request = agent.ask()
        with transaction.atomic():
            allow(request, member)
            changes = {"forbids_grants": True}
            forbidding, _ = self.begin(lambda: services.update_loop(loop=loop, changes=changes))
            wait_until(lambda: waiting_for_locks() == 1)
        forbidding.join()
        assert Grant.objects.get().revoked_at is not None

    @pytest.mark.contract("grant.end")
    def test_a_use_under_a_policy_waits_for_a_member_who_leaves(
        self, agent: Agent, owner: User, member: User, outsider: User, loop: Loop
    ) -> None:
        join_loop(user=outsider, code=loop.invite_code)
        allow(agent.ask(), member)
        place = {"loop_id": loop.pk, "account_id": owner.pk}
        with transaction.atomic():
            lock_loop(**place)
            asking, covered = self.begin(
                lambda: is_covered(agent.ask(policy={"exclude_creator": True}))
            )
            wait_until(lambda: waiting_for_locks() == 1)
            # it waits before it has locked the membership, else both would wait for each other
            Membership.objects.select_for_update(nowait=True).get(user=member, loop=loop)
            services.remove_member(**place, member_id=member.pk)
        asking.join()
        assert covered == [False]

    @pytest.mark.contract("grant.never")
    def test_it_waits_for_an_owner_who_forbids_them(
        self, agent: Agent, member: User, loop: Loop
    ) -> None:
        request = agent.ask()
        with transaction.atomic():
            services.update_loop(loop=loop, changes={"forbids_grants": True})

            def approve() -> str:
                with pytest.raises(InvalidGrant) as refused:
                    allow(request, member)
                return str(refused.value)

            granting, said = self.begin(approve)
            wait_until(lambda: waiting_for_locks() == 1)
        granting.join()
        assert said == ["This loop allows no calls for a while"]
        assert services.read_request(request.pk).status == "pending"

    @pytest.mark.contract("grant.revoke")
    def test_a_use_waits_for_the_revocation_under_way(self, agent: Agent, member: User) -> None:
        grant = allow(agent.ask(), member)
        with transaction.atomic():
            Grant.objects.select_for_update().get()
            asking, covered = self.begin(lambda: is_covered(agent.ask()))
            wait_until(lambda: waiting_for_locks() == 1)
            grants.revoke(grant, actor_id=member.pk)
        asking.join()
        assert covered == [False]
