# refused: set a profile or trace function of its own
import sys

sys.setprofile(None)
