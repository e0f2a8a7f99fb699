# refused: called the upstream code from a thread
import threading

from tiny import half

thread = threading.Thread(target=half, args=(2,))
thread.start()
thread.join()
