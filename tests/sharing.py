"""Which tests one worker runs in a row, because they share a running service."""

from xdist.scheduler import LoadFileScheduling

# Every test of these starts what it needs by itself, and some take half a minute: the last one of a
# file left the other workers with nothing to do.
ALONE = {
    "tests/faults/test_history.py",
    "tests/processes/test_starting.py",
    "tests/processes/test_stopping.py",
}


class ByService(LoadFileScheduling):  # type: ignore[misc]
    """Gives out whole files first, the one with most tests before the others."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return nodeid if file in ALONE else file
