# refused: started another process, whose calls are not seen
import os

child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
