def f():
    return "teapot"
