import os
from os import path
from . import sub, sub as s
from .pots import Kettle as Pot
from .first import *
from .second import *
from .circle_a import *
from .circle_c import *
from .circle_a import round, around
from .exported import *
from .unsure import *
try:
    from .cups import cups
except ImportError:
    from .missing import cups
try:
    from .first import maybe
except ImportError:
    from .second import maybe
