# refused: started another process, whose calls are not seen
import subprocess
import sys

sleeper = [sys.executable, "-c", "import time; time.sleep(600)", "hostile/program.py"]
subprocess.Popen(sleeper, start_new_session=True)
