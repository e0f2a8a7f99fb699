"""Trees and what they bear."""

import numpy as np


def weigh(fruit):
    """Kilograms."""
    return float(np.sum(fruit))
