def f():
    return "kettle"
