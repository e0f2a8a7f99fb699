def where():
    return "module"
