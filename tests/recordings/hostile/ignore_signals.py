# refused: used more than 1 s of processor time
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
