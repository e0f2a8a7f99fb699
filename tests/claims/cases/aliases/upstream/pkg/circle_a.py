from .circle_b import *
from .circle_c import *
from .circle_b import around
