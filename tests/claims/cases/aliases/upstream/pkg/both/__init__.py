def where():
    return "package"
