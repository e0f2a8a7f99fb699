from .circle_a import *
from .circle_c import *
from .circle_a import around
