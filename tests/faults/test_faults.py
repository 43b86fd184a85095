"""Each fault of the catalogue, with the waits shortened. `make chaos` takes the real ones."""

import pytest

from tests.faults.catalogue import FAULTS, Fault
from tests.faults.trial import NotTried, Trial


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_is_endured(short_trial: Trial, fault: Fault) -> None:
    try:
        print(fault.befall(short_trial))
    except NotTried as reason:
        pytest.skip(str(reason))
