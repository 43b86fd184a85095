"""How `make run` stops, and starts again."""

import os
import re
import signal

from local.apps import MAX_WORKERS, count_cores
from tests.processes.conftest import StackMaker
from tests.processes.stack import WEB
from tests.waiting import wait_until


def test_the_data_outlives_every_kind_of_end(new_stack: StackMaker) -> None:
    stack = new_stack().start_until_ready()
    first_output = stack.output()
    assert "curl " in first_output
    key = stack.manage("createapikey", "kept@example.com").strip()

    stack.signal_make(signal.SIGTERM)
    stack.wait_for_end()
    assert stack.stopped_cleanly()

    stack.start_until_ready()
    assert "curl " not in stack.output()  # the demo account is shown once
    assert stack.call(key).status_code == 200

    os.kill(stack.pid_of(r"-m local run"), signal.SIGKILL)
    assert stack.wait_for_end() != 0
    assert (stack.data / "env").exists()

    stack.start_until_ready()
    assert stack.call(key).status_code == 200
    pids = [stack.pid_of(pattern) for pattern in (r"-m local run", r"bin/postgres -D")]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    stack.wait_for_end()
    assert (stack.data / "postgres" / "postmaster.pid").exists()

    stack.start_until_ready()
    assert stack.call(key).status_code == 200
    stack.signal_group(signal.SIGINT)
    stack.wait_for_end()
    assert stack.stopped_cleanly()


def test_the_web_servers_own_workers_die_with_it(new_stack: StackMaker) -> None:
    stack = new_stack().start_until_ready()
    web = [pid for pid, command in stack.processes().items() if re.search(WEB, command)]
    assert len(web) == 1 + min(count_cores(), MAX_WORKERS)

    os.kill(stack.pid_of(r"-m local run"), signal.SIGSTOP)  # nobody tidies up after it
    os.kill(min(web), signal.SIGKILL)
    wait_until(lambda: not set(web) & set(stack.processes()))

    os.kill(stack.pid_of(r"-m local run"), signal.SIGCONT)
    stack.signal_group(signal.SIGTERM)  # reaches the supervisor twice: by make, and by itself
    stack.wait_for_end()
    assert stack.stopped_cleanly()
    assert "Ending the applications at once" not in stack.output()


def test_a_second_interrupt_does_not_wait_for_the_applications(new_stack: StackMaker) -> None:
    stack = new_stack().start_until_ready()
    for pid, command in stack.processes().items():
        if re.search(WEB, command):
            os.kill(pid, signal.SIGSTOP)  # it will not end by being asked

    stack.signal_group(signal.SIGINT)
    wait_until(lambda: "Stopping" in stack.output())
    stack.signal_group(signal.SIGINT)
    stack.wait_for_end()

    assert "Ending the applications at once" in stack.output()
    assert stack.stopped_cleanly()


def test_an_end_while_it_is_starting_leaves_nothing(new_stack: StackMaker) -> None:
    stack = new_stack(fresh=True).start()
    wait_until(lambda: (stack.data / "postgres.log").exists())
    stack.signal_group(signal.SIGINT)
    stack.wait_for_end()

    assert not stack.ready_line()
    assert "Traceback" not in stack.output()
    stack.start_until_ready()
    stack.signal_make(signal.SIGTERM)
    stack.wait_for_end()
    assert stack.stopped_cleanly()


def test_given_servers_are_used_and_none_is_started(new_stack: StackMaker) -> None:
    given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    stack = new_stack(**given).start_until_ready()

    commands = " ".join(stack.processes().values())
    assert "postgres" not in commands
    assert "unixsocket" not in commands
    stack.signal_make(signal.SIGTERM)
    stack.wait_for_end()
    assert not (stack.data / "env").exists()


def test_settings_that_make_no_sense_stop_it_with_a_sentence(new_stack: StackMaker) -> None:
    for environment in (
        {"PORT": "http"}, {"SITE_URL": "nowhere"}, {"WEBHOOK_LEASE_SECONDS": "15"},
    ):  # fmt: skip
        stack = new_stack("data-" + next(iter(environment)), **environment).start()
        assert stack.wait_for_end(30) != 0
        (name,) = environment
        assert f"{name} is" in stack.output()
        assert not stack.ready_line()
