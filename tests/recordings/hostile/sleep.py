# refused: ran for more than 2 s
# seconds: 2
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
