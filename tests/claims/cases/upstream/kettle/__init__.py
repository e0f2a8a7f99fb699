from .core import Kettle as Pot
from .core import boil, minutes
from .spare import *
