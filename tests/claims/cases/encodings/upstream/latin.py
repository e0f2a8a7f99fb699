# -*- coding: latin-1 -*-
def f():
    return "naïve"
