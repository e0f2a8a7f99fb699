# refused: made more than 5,000 calls
from tiny import half

for number in range(10_000):
    half(number)
