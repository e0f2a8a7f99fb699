"""Which repository addresses get as far as git."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream import git
from annotate.upstream.address import repository_address
from annotate.upstream.store import Store


def pin(repository: str) -> Pin:
    return Pin("upstream", repository, "a" * 40)


@pytest.mark.parametrize(
    "address",
    [
        "--upload-pack=touch pwned",
        "--upload-pack=touch%20pwned",
        "-c",
        "ext::sh -c touch% pwned",
        "ext::touch",
        "fd::17",
        "https::ext::touch",
        "http://example.org/r",
        "http://127.0.0.1.example.org/r",
        "http://localhost.example.org/r",
        "ftp://example.org/r",
        "git://example.org/r",
        "ssh://git@example.org/r",
        "ssh://-oProxyCommand=touch/r",
        "git@example.org:owner/name",
        "/srv/repository",
        "../repository",
        "file:repository",
        "file://example.org/r",
        "https:///r",
        "https://example.org:port/r",
        "https://[::1/r",
        "https://example.org/a b",
        "https://example.org/a\nb",
        "https://example.org/a\x1b[31m",
        "",
    ],
)
def test_refused_before_git_hears_of_it(address: str, store: Store) -> None:
    with pytest.raises(AnnotateError) as caught:
        git.fetch(pin(address), store, None)
    assert caught.value.exit_code is Exit.USAGE
    assert caught.value.message.isprintable()
    assert caught.value.hint
    assert not store.root.exists()


@pytest.mark.parametrize(
    "address", ["https://ada:secret@example.org/r", "ftp://ada:secret@example.org/r"]
)
def test_a_login_is_refused_and_not_repeated(address: str, store: Store) -> None:
    with pytest.raises(AnnotateError, match="carries a login") as caught:
        git.fetch(pin(address), store, None)
    assert "secret" not in caught.value.message + caught.value.hint


LOOPBACK = ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"]
ADDRESSES = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["https://", "http://", "file://", "ssh://", "ext::", "HTTP://", "-", ""]),
        st.sampled_from(["", "", "ada@", "ada:secret@"]),
        st.sampled_from(["", *LOOPBACK, "example.org", "127.0.0.1.example.org", "-x"]),
        st.sampled_from(["", ":80", ":x", "@example.org"]),
        st.just("") | st.text().map("/{}".format),
    ),
)


@given(ADDRESSES | st.text())
def test_whatever_is_accepted_is_of_one_of_three_kinds(address: str) -> None:
    try:
        parts = repository_address(pin(address))
    except AnnotateError:
        return
    assert not any(character.isspace() or not character.isprintable() for character in address)
    assert "@" not in parts.netloc
    assert not address.startswith("-")
    kind = address.lower().partition("://")[0]
    assert kind == parts.scheme
    if kind == "http":
        assert parts.hostname in [host.strip("[]") for host in LOOPBACK]
    elif kind == "file":
        assert parts.netloc in ("", "localhost")
    else:
        assert kind == "https"


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/owner/name.git",
        "https://example.org:8443/owner/name",
        "http://localhost:8000/r",
        "http://127.0.0.1:8000/r",
        "http://[::1]:8000/r",
        "file:///srv/up%20stream.git",
        "file://localhost/srv/upstream.git",
    ],
)
def test_accepted(address: str) -> None:
    assert repository_address(pin(address)).geturl() == address
