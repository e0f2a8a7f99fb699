"""What is pinned: an upstream repository at one full commit id, and its stand-in."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_full_commit(text: str) -> bool:
    """Whether the text is a full commit id (SHA-1: 40 hex digits, SHA-256: 64), lower case."""
    return _FULL_COMMIT.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Release:
    """A published source distribution that stands in where the commit cannot be fetched.

    ``sha256`` is the hex digest of the archive.
    """

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Pin:
    """One upstream at one commit, under the name the project gives it.

    ``commit`` is "" where the release itself is pinned.
    """

    name: str
    repository: str
    commit: str
    release: Release | None = None

    def permalink(self, path: str, first: int | None = None, last: int | None = None) -> str | None:
        """The address of a file at the pinned commit on its web host, with lines where given.

        Returns None for a repository that is not served over https, or where no commit is pinned.
        """
        address = urlsplit(self.repository)
        if address.scheme != "https" or not self.commit:
            return None
        base = self.repository.removesuffix("/").removesuffix(".git")
        separator = "/-/blob/" if "gitlab" in (address.hostname or "") else "/blob/"
        link = f"{base}{separator}{self.commit}/{quote(path)}"
        if first is not None:
            link += f"#L{first}"
            if last is not None and last != first:
                link += f"-{last}" if separator == "/-/blob/" else f"-L{last}"
        return link
