from .half import *
