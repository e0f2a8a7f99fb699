# refused: had more than 8 processes at once
import os
import time

for _ in range(60):
    if os.fork() == 0:
        time.sleep(600)
time.sleep(600)
