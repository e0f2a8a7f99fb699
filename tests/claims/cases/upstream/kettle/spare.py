__all__ = ["lid"]


def lid():
    return "lid"


def spout():
    return "spout"
