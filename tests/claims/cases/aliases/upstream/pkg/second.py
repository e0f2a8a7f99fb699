def twice():
    return 2


def maybe():
    return 2
