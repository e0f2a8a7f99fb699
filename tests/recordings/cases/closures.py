"""Wrappers are told apart by what they wrap; lambdas belong to the symbol around them."""

from tiny import boundary, half, stage
from tiny.core import RULES, chosen, double, triple


@boundary
def mine(number):
    return number + double(number)


print(double(1), triple(1), mine(1))
print(half(3))
pullback = stage(5)
print(pullback(2))
print(RULES["exp"](7, 1)(2), RULES["neg"](7, 1)(2))
print(chosen(True), chosen(False))
