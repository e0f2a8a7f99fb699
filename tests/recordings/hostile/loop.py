# refused: used more than 1 s of processor time
while True:
    pass
