"""Fruit."""
