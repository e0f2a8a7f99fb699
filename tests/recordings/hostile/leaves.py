# refused: ended without running its exit handlers
import os

os._exit(0)
