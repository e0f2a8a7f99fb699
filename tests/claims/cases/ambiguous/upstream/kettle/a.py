def left():
    return 1
