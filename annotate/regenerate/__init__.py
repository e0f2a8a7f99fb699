"""Carrying a project to another version of its upstream."""

from annotate.regenerate.plan import Carried, Plan, make_plan
from annotate.regenerate.target import carry_over

__all__ = ["Carried", "Plan", "carry_over", "make_plan"]
