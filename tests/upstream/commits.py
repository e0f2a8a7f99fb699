"""Histories: commits with parents, in the repositories that the tests build."""

from collections.abc import Mapping

from tests.upstream.repositories import Repository


def commit(
    repository: Repository,
    files: Mapping[str, str | bytes],
    *parents: str,
    message: str = "A commit",
) -> str:
    """Write a commit of these files with these parents; nothing points at it."""
    tree = repository.files(
        {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
    )
    options = [option for parent in parents for option in ("-p", parent)]
    return repository.git("commit-tree", "-m", message, *options, tree)


def line(
    repository: Repository, *states: Mapping[str, str | bytes], branch: str = "main"
) -> list[str]:
    """Write commits one after the other, oldest first, and let a branch and HEAD name the last."""
    commits: list[str] = []
    for number, files in enumerate(states):
        commits.append(commit(repository, files, *commits[-1:], message=f"State {number}"))
    repository.branch(branch, commits[-1])
    repository.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    return commits
