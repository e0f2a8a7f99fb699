# refused: used more than 1 s of processor time

from tiny.core import stage


def endless():
    number = 0
    while True:
        number += 1


stage(2)
endless()
