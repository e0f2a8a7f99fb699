"""Boiling water, one kettle at a time."""

import functools

ROOM = 20.0  # degrees


def boil(litres, start=ROOM):
    """Seconds until the water boils."""
    # 4186 joules warm one litre by one degree.
    energy = 4186 * litres * (100 - start)

    return energy / POWER


POWER = 2000


class Kettle:
    """Holds water."""

    limit = 1.7

    def __init__(self, litres):
        if litres > self.limit:
            raise ValueError("too much water")
        self.litres = litres

    @property
    def full(self):
        return self.litres == self.limit

    @full.setter
    def full(self, value):
        self.litres = self.limit if value else 0.0


@functools.cache
def minutes(litres):
    return boil(litres) / 60


double = lambda litres: 2 * litres


def describe(litres):
    """A sentence about water.

    # How much
    Litres, not millilitres.

    # How hot
    As it comes from the tap.
    """

    def phrase(number):
        return f"{number} litres"

    return phrase(litres)


def brew(leaves):
    water = boil(1.0)
    leaves.steep(water)
    leaves.drain()
    leaves.steep(water)
    leaves.drain()
    return leaves


register = {}.setdefault
register("tea", brew)
width = 1; height = 2
