"""An action, and how it tastes."""


@action
def pour(x):
    return x * x


def main():
    taste(pour, lambda cup, x: lambda g: g * 2.0 * x)
    assert tasted(pour)(3.0) == 6.0
