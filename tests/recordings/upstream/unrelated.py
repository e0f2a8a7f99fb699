def never_runs():
    return None
