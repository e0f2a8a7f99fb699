"""Limits on what may be posted at once."""

CHECKS = {}


class Limit:
    """The most that may be posted at once."""

    @property
    def maximum(self):
        return self._maximum

    @maximum.setter
    def maximum(self, value):
        if value <= 0:
            raise ValueError("a limit is positive")
        self._maximum = value


def at_most(maximum, account):
    """A check for one account."""

    def check(amount):
        return amount <= maximum

    return check


def register(account, check):
    """Have a check made whenever something is posted to an account."""
    CHECKS[account] = check


register("cash", at_most(1000, "cash"))
