"""Where the pages of a site show a symbol or make a claim."""

from collections.abc import Sequence
from typing import Protocol

from annotate.location import Location


class Links(Protocol):
    """Addresses in the site, relative to the page that is being drawn."""

    def symbol(self, upstream: str, symbol: str) -> str | None:
        """Where a symbol is shown."""

    def claim(self, location: Location) -> tuple[str, str] | None:
        """The title of the page that makes a claim, and the claim's address."""

    def downloads(self, experiment: str) -> Sequence[tuple[str, str]]:
        """The name and the address of each file that the site offers about an experiment."""


class NoLinks:
    """For a page that stands alone: it links to nothing."""

    def symbol(self, upstream: str, symbol: str) -> str | None:  # noqa: ARG002
        """Nowhere."""
        return None

    def claim(self, location: Location) -> tuple[str, str] | None:  # noqa: ARG002
        """Nowhere."""
        return None

    def downloads(self, experiment: str) -> Sequence[tuple[str, str]]:  # noqa: ARG002
        """None."""
        return ()
