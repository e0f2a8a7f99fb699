def either():
    return "c"
