from .circle_a import *
from .circle_b import *


def round():
    pass
