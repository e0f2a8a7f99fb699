"""A book of entries."""

from ledger.money import rounded


class Book:
    """Entries in the order of posting."""

    def __init__(self):
        self.entries = []

    def post(self, debit, credit, amount):
        """Move an amount from one account to another."""
        if amount < 0:
            raise ValueError("an amount is not negative")
        self.entries.append((debit, credit, rounded(amount)))

    def balance(self, account):
        """What an account has received, less what it has given."""
        return sum(
            amount * ((debit == account) - (credit == account))
            for debit, credit, amount in self.entries
        )

    def reverse(self, number):
        """Post an entry once more, the other way round."""
        debit, credit, amount = self.entries[number]
        self.post(credit, debit, amount)
