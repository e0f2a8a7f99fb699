from tiny.core import checked, half

start = checked(3)


def arrived():
    return half(start)
