"""A ledger."""

from ledger.days import fee, is_between, rate

LIMIT = 100


def posted(entries, *, since=None, until=None, accounts=("cash", "bank"), rounded_to_cents=True):
    """Sum what was posted to the accounts between two days."""
    total = 0.0
    for entry in entries:  # in the order they were written, which need not be that of their days
        if entry.account in accounts and is_between(entry.day, since, until) and not entry.is_open:
            total += entry.amount * rate(entry.currency, entry.day) - fee(entry, accounts[0], 0.125)
    return round(total, 2) if rounded_to_cents else total
