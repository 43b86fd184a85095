"""The dashboard's tests meet requests in the states that those of the reviews do."""

from tests.reviews.conftest import make

__all__ = ["make"]
