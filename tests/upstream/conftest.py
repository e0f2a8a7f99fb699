"""Fixtures for where the bytes come from; no test reads this machine's settings or its cache."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.upstream.store import Store
from tests.upstream.repositories import GitServer, Repository, serving

_SETTINGS = ("GIT_", "PIP_", "SSL_CERT_", "REQUESTS_CA_", "CURL_CA_")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without settings: no proxy, no certificates, no pip or git configuration."""
    for name in os.environ:
        if name.startswith(_SETTINGS) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(home / "site"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("ANNOTATE_CACHE", str(tmp_path / "default-store"))
    monkeypatch.chdir(home)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "served" / "upstream.git")


@pytest.fixture
def server(repository: Repository) -> Iterator[GitServer]:
    """The repository's folder behind git's smart HTTP."""
    server = GitServer(repository.path.parent)
    with serving(server):
        yield server
