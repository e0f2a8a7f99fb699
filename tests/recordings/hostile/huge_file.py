# refused: wrote a file larger than 1 MB
from pathlib import Path

with Path("huge").open("wb") as file:
    for _ in range(100):
        file.write(bytes(100_000))
