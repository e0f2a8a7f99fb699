# ruff: noqa: F401
from tiny.core import boundary, half, rule_for, stage
