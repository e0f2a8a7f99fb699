"""The address of an upstream repository: what git may be given, and whether its host answers."""

import contextlib
import ipaddress
import socket
import ssl
import threading
import urllib.request
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from annotate.errors import AnnotateError
from annotate.pin import Pin
from annotate.upstream.store import unavailable


def repository_address(pin: Pin) -> SplitResult:
    """Take the repository's address apart, once it is one that git may be given.

    That is https, http to this very machine, or file. Nothing else gets near git: an address that
    begins with ``-`` would be an option, and ``ext::…`` a command.

    Raises:
        AnnotateError: it is another kind of address, is malformed, or carries a login.
    """
    text = pin.repository
    if not text.isprintable() or " " in text:
        shown = "".join(character if character.isprintable() else "�" for character in text)
        raise AnnotateError(
            f"{pin.name}: the repository address “{shown}” holds a space or a control character",
            "Write a space in it as %20.",
        )
    try:
        address = urlsplit(text)
        host = address.hostname
        _ = address.port
    except ValueError as error:
        raise AnnotateError(
            f"{pin.name}: the repository address is malformed: {error}",
            "Write https://HOST/OWNER/NAME.",
        ) from error
    login, at_sign, _ = address.netloc.rpartition("@")
    is_accepted = (
        (address.scheme == "https" and bool(host))
        or (address.scheme == "http" and _is_loopback(host or ""))
        or (text.startswith("file:///") or text.startswith("file://localhost/"))
    )
    if ":" in login or (is_accepted and at_sign):
        raise AnnotateError(
            f"{pin.name}: the repository address carries a login",
            "Take it out of the address; git finds a login for the host in ~/.netrc.",
        )
    if is_accepted:
        return address
    if address.scheme == "http":
        hint = "Plain http can be read and changed on its way: write https://…"
    elif address.scheme in ("ssh", "git", "git+ssh") or "@" in text.partition("/")[0]:
        hint = "Write the address that needs no key: https://HOST/OWNER/NAME."
    else:
        hint = "Write https://HOST/OWNER/NAME, or file:///PATH for a repository on this machine."
    raise AnnotateError(f"{pin.name}: annotate does not fetch from “{text}”", hint)


def refuse_missing_folder(pin: Pin, address: SplitResult) -> None:
    """Raise `AnnotateError` if a file address names no folder."""
    if not Path(unquote(address.path)).is_dir():
        raise unavailable(pin, f"there is no repository at {pin.repository}", "Check the path.")


def refuse_unreachable(pin: Pin, address: SplitResult, seconds: float) -> None:
    """Raise `AnnotateError` if its host takes no connection; git alone may wait for minutes.

    Behind a proxy only the proxy can tell, and nothing is tried.
    """
    host = address.hostname or ""
    proxies = urllib.request.getproxies()
    if (address.scheme in proxies or "all" in proxies) and not urllib.request.proxy_bypass(host):
        return
    is_encrypted = address.scheme == "https"
    port = address.port or (443 if is_encrypted else 80)
    reason = _why_no_connection(host, port, is_encrypted, seconds)
    if reason:
        raise unreachable(pin, host, reason)


def unreachable(pin: Pin, host: str, reason: str) -> AnnotateError:
    """Make the error for a host that does not answer, or not in time."""
    return unavailable(
        pin, f"{host} cannot be reached ({reason})", "Check the network, or try again later."
    )


def _why_no_connection(host: str, port: int, is_encrypted: bool, seconds: float) -> str:
    """Connect to a host; return what prevents it, or "" if nothing does.

    Over https its first byte is waited for as well: git's own limit for slow transfers begins
    only once a connection is encrypted, and some firewalls accept everything and answer nothing.

    In a thread, because looking a name up takes no time limit. Each step gets half the time, so
    that a second address is tried where the first swallows everything.
    """
    outcome = ["it does not answer"]

    def connect() -> None:
        try:
            with socket.create_connection((host, port), timeout=seconds / 2) as connection:
                if is_encrypted:
                    connection.sendall(_client_hello(host))
                    connection.recv(1)
        except (socket.gaierror, UnicodeError):
            outcome[0] = "its name is not known here"
        except TimeoutError:
            pass
        except OSError as error:
            outcome[0] = (error.strerror or str(error)).lower()
        else:
            outcome[0] = ""

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(seconds)
    return outcome[0]


def _client_hello(host: str) -> bytes:
    """Make the message that opens a TLS handshake."""
    outgoing = ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    handshake = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=host)
    with contextlib.suppress(ssl.SSLWantReadError):
        handshake.do_handshake()
    return outgoing.read()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
