x = 1

def f():
    return 1

def g():
    x = 1

    return x
