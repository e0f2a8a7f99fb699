from .x import deep2
