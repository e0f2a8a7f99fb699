# coding: utf-16
def f():
    return 1
