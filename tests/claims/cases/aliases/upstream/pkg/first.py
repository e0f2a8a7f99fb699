def twice():
    return 1


def _hidden():
    pass


def maybe():
    return 1
