def f():
    return "naïve"
