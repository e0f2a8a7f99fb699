"""Fixtures for all tests: none reads or writes the cache of whoever runs them."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("annotate", deadline=None)
settings.load_profile("annotate")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store for what does not bring its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANNOTATE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
