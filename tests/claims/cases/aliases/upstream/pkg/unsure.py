__all__ = []
__all__ += ["computed"]


def computed():
    pass
