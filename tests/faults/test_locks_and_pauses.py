"""Locks, pauses and what is due, with short waits. `make chaos` has the real ones."""

import pytest

from tests.faults.catalogue import LOCKS_AND_PAUSES, Fault
from tests.faults.conftest import befall
from tests.faults.trial import Trial


@pytest.mark.parametrize("fault", LOCKS_AND_PAUSES, ids=lambda fault: fault.name)
def test_it_is_endured(short_trial: Trial, fault: Fault) -> None:
    befall(fault, short_trial)
