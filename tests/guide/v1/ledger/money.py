"""Amounts of money."""

CENTS = 100


def rounded(amount):
    """Round to cents; halves go to the even one."""
    return round(amount * CENTS) / CENTS
