# refused: set a profile function of its own
import sys

sys.setprofile(None)
