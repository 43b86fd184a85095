"""What passes through the gate unchanged: everything, where the rules let every tool pass."""

from typing import Any

import pytest

from reviews.models import Request
from tests.clients.mcp_gate.conftest import SHOP_COMMAND, Host, Stand
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
OFF = 'pass = ["*"]'
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("refund", {"order": "1042", "amount": 80}),
    ("refund", {"order": "1042"}),  # an argument is missing
    ("weigh", {"parcel": "größer ✓"}),
    ("break_cup", {}),
    ("close", {"order": "1042"}),
    ("read_order", {"order": "7"}),
    ("picture", {}),
    ("count_cups", {}),
    ("nothing", {}),
]


def dump(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True)


def ask_everything(host: Host) -> list[Any]:
    """What a host sees of a server: its lists, and what each call returns or raises."""
    client = host.client
    seen: list[Any] = [client.protocol_version, dump(client.server_capabilities)]
    seen += [client.instructions, dump(client.server_info)]
    for read in (
        client.list_tools,
        client.list_prompts,
        client.list_resources,
        client.list_resource_templates,
    ):
        seen.append(dump(host.run(read)))
    seen.append(dump(host.run(client.read_resource, "shop://catalogue")))
    seen.append(dump(host.run(client.read_resource, "shop://orders/7")))
    seen.append(dump(host.run(client.get_prompt, "thank", {"name": "Ada"})))
    for tool, arguments in CALLS:
        try:
            seen.append(dump(host.call(tool, **arguments).result(stretched(30))))
        except Exception as error:
            seen.append((type(error), str(error)))
    return [*seen, host.progress]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_with_rules_off_is_the_same_server(stand: Stand, mode: str) -> None:
    with stand.host(SHOP_COMMAND, mode) as host:
        direct = ask_everything(host)
    calls = stand.calls
    with stand.host(stand.command(*stand.rules(OFF)), mode) as host:
        through = ask_everything(host)
    assert through == direct
    assert stand.calls == 2 * calls
    assert [each["tool"] for each in calls] == ["refund", "weigh", "break_cup", "close"]
    assert len(through[-1]) == 3  # of the progress
    assert not Request.objects.exists()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_at_an_address_is_the_same_server(stand: Stand, mode: str) -> None:
    with stand.shop_at_address() as address:
        command = stand.command(*stand.rules(OFF), server=[address])
        with stand.host(command, mode) as host:
            through = ask_everything(host)
    with stand.host(SHOP_COMMAND, mode) as host:
        assert through == ask_everything(host)
    assert not Request.objects.exists()


def test_changed_lists_are_announced(stand: Stand) -> None:
    with stand.host(stand.command(), "legacy") as host:
        before = host.run(host.client.list_tools)
        host.call("change").result(stretched(30))
        wait_until(lambda: "tools/list_changed" in str(host.received), 30)
        after = host.run(host.client.list_tools)
    (old,) = [each for each in before.tools if each.name == "refund"]
    (new,) = [each for each in after.tools if each.name == "refund"]
    assert "cents" in new.input_schema["properties"]
    assert "cents" not in old.input_schema["properties"]


def test_a_cancelled_call_is_cancelled_in_the_server(stand: Stand) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("wait_for_ever")
        wait_until(lambda: len(stand.calls) == 1, 30)
        calling.cancel()
        wait_until(lambda: len(stand.calls) == 2, 30)
        assert stand.calls[-1] == {"tool": "wait_for_ever", "cancelled": True}


def test_tools_that_only_read_pass_without_rules(stand: Stand) -> None:
    with stand.host(stand.command()) as host:
        result = host.call("read_order", order="7").result(stretched(30))
    assert result.structured_content == {"result": "7: one cup"}
    assert not Request.objects.exists()


def test_the_server_gets_the_environment_without_the_key(stand: Stand) -> None:
    with stand.host(stand.command(), WAREHOUSE="north") as host:
        result = host.call("list_variables").result(stretched(30))
    assert result.structured_content is not None
    names = result.structured_content["result"]
    assert {"WAREHOUSE", "CALLS"} <= set(names)
    assert not [name for name in names if name.startswith("REVIEW_LOOP")]
