# ruff: noqa: E731
import functools

RULES = {}
LIMIT = 100


def checked(number):
    assert number < LIMIT
    return number


def boundary(function):
    note = checked(0)

    @functools.wraps(function)
    def wrapped(*arguments):
        checked(note)
        return function(*arguments)

    wrapped.inside = function
    return wrapped


@boundary
def double(number):
    return 2 * number


@boundary
def triple(number):
    return 3 * number


half = lambda number: number / 2


def rule_for(name, maker):
    RULES[name] = maker


rule_for("exp", lambda answer, x: lambda g: g * checked(answer))
rule_for("neg", lambda answer, x: lambda g: -g)


def stage(x):
    return lambda g: g * checked(x)


def countdown(number):
    while number:
        yield checked(number)
        number -= 1


def drained(number):
    return sum(countdown(number))


def squares(count):
    return [checked(number) ** 2 for number in range(count)]


def lazily(numbers):
    return (half(number) for number in numbers)


def gathered(numbers):
    return list(numbers)


def depth(number):
    return 0 if number == 0 else 1 + depth(number - 1)


def chosen(flag):
    if flag:

        def pick():
            return checked(1)
    else:

        def pick():
            return checked(2)

    return pick()


def refusing(number):
    try:
        checked(number)
    except AssertionError:
        return half(number)


def later():
    from tiny.late import arrived

    return arrived()


class Box:
    filled = checked(1)

    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        return double(self.value)

    @classmethod
    def of(cls, value):
        return cls(value)

    def __add__(self, other):
        return Box.of(self.value + other.value)


class Callable:
    def __call__(self, number):
        return checked(number)


called = Callable()
