# refused: printed more than 20,000 bytes; nothing was recorded\n    x{200}$
import os

while True:
    os.write(2, b"x" * 4096)
