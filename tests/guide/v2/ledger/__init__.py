"""Double-entry bookkeeping in one class."""

from ledger.book import Book

__all__ = ["Book"]
