"""Too little of something, or too much at once. `make chaos` has the real waits."""

import pytest

from tests.faults.catalogue import SCARCITY, Fault
from tests.faults.conftest import befall
from tests.faults.trial import Trial


@pytest.mark.parametrize("fault", SCARCITY, ids=lambda fault: fault.name)
def test_it_is_endured(short_trial: Trial, fault: Fault) -> None:
    befall(fault, short_trial)
