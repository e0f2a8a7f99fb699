# refused: two runs of docs/experiments/clock.py differ(.|\n)*\+\d
import time

print(time.time_ns())
