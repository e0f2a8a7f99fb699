def f(): return 1
def f(): return 2

x = 1; y = 2
z = 3  # three


class A:
    @property
    def p(self):
        return 1

    @p.setter
    def p(self, value):
        pass

    def g(self): pass


@first
# between
@second(
    1
)
def deco():
    pass


a = b = 1


def outer():
    def inner():
        return 1
    return inner


if x:
    def late():
        return 1
else:
    def late():
        return 2


def early():
    return 1
    # said last


g = lambda: (
    1
)

reg(1)
reg(1)  # again


async def coro():
    pass
