"""Generators go on, comprehensions run where they stand, generator expressions elsewhere."""

from tiny.core import checked, countdown, drained, gathered, half, lazily, squares

print(drained(2))
print(squares(3))
print(gathered(lazily([2, 4])))
print([checked(number) for number in countdown(2)])
print(list(map(half, (1, 2, 3))))
