class Left:
    def left():
        return 1


def either():
    return "b"
