def keeper():
    """Who keeps the orchard."""
    return "Pomona"
