__all__ = [
    "lid",  # only this
]


def lid():
    return "lid"


def spout():
    return "spout"
