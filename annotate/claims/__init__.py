"""Kinds of claim: each module judges one kind and draws it."""
