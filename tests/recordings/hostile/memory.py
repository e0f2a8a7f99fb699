# refused: needed more than 500 MB of memory
kept = []
while True:
    kept.append(bytearray(50_000_000))
