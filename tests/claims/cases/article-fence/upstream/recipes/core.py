"""Recipes, and what happens to them when water boils away."""

TASTES = {}


class Missing(Exception):
    pass


class Step:
    """One thing done to a cup."""

    __slots__ = ("cup", "then")

    def __init__(self, cup, action, cups):
        self.cup = cup
        try:
            maker = TASTES[action]
        except KeyError:
            name = getattr(action, "__name__", action)
            raise Missing(f"taste of {name} is not known")

        self.then = maker(cup, cups)


def taste(action, maker):
    TASTES[action] = maker


def checked(maker, action):
    if maker is None:
        return lambda cup, *cups: lambda g: 0.0
    elif callable(maker):
        return maker
    else:
        raise TypeError(f"bad taste '{maker}' for '{action.__name__}'")
