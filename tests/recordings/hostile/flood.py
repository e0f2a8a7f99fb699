# refused: printed more than 20,000 bytes
while True:
    print("flood")
