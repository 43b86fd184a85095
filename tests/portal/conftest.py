"""The portal's tests use the requests of tests/reviews."""

from tests.reviews.conftest import make as make
