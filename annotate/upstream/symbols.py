"""Bytes → symbols."""
