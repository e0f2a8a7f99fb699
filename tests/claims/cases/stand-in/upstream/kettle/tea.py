def steep(leaves):
    # Three minutes.
    return leaves.wait(240)


def pour(cup):
    return cup


def drink(cup):
    """Slowly."""
    cup.empty()
    return None
