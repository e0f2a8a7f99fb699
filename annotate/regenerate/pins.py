"""The configuration with another pin: only the values change, comments and layout stay."""

import json
import re

from annotate.errors import AnnotateError
from annotate.pin import Pin

_TABLE = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?")


def with_pin(data: bytes, old: Pin, new: Pin) -> bytes:
    """Rewrite a configuration file's commit, and its release where that differs.

    Args:
        data: the file's bytes.
        old: what it pins.
        new: what it is to pin, under the same name.

    Raises:
        AnnotateError: the values are not where they can be rewritten, such as in an inline table.
    """
    text = data.decode("utf-8-sig")
    changes = [("commit", old.commit, new.commit)]
    if new.release is not None and old.release is not None:
        changes += [
            ("version", old.release.version, new.release.version),
            ("sha256", old.release.sha256, new.release.sha256),
        ]
    lines = text.split("\n")
    inside = False
    for number, line in enumerate(lines):
        if match := _TABLE.fullmatch(line.rstrip("\r")):
            name = [part.strip().strip("\"'") for part in match["name"].split(".")]
            inside = name[-2:] == ["upstream", new.name] or name[-3:-1] == ["upstream", new.name]
        elif inside:
            for key, before, after in changes:
                lines[number] = _with_value(lines[number], key, before, after)
    result = "\n".join(lines)
    for key, before, after in changes:
        if before != after and before in text and result.count(after) == text.count(after):
            raise AnnotateError(
                f"the {key} of {new.name} cannot be rewritten",
                f"Write it as {key} = {json.dumps(before)} below [tool.annotate.upstream.NAME].",
            )
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return bom + result.encode()


def _with_value(line: str, key: str, before: str, after: str) -> str:
    """``key = "before"`` with another value, alone on its line or within an inline table."""
    pattern = rf"""(\b{key}\s*=\s*)(["']){re.escape(before)}\2"""
    code, hash_sign, comment = line.partition(" #")
    return re.sub(pattern, rf"\g<1>\g<2>{after}\g<2>", code, count=1) + hash_sign + comment
