"""Addresses and folders are replaced, hexadecimal numbers stay."""
# ruff: noqa: PTH109, PTH120

import os
import tempfile

import tiny

print(object())
print(hex(3735928559))
print(tiny.__file__, os.getcwd(), __file__)
print(os.path.dirname(tempfile.mkstemp()[1]))
print(len({"a", "b", "c"}), __name__, tiny.half(4))
