"""The running service that the faults befall."""

from collections.abc import Iterator

import pytest

from tests.faults.trial import SHORT, Trial, trial


@pytest.fixture(scope="session")
def short_trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """One service for all faults, with leases and waits shortened."""
    with trial(tmp_path_factory.mktemp("faults"), SHORT) as under_trial:
        yield under_trial
