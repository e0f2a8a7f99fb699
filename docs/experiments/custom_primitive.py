"""A primitive of your own: declared, found without a rule, given one, checked to second order.

Shows in one process that `@primitive` makes a function callable but not differentiable, where the
missing rule is noticed, what `defvjp` stores and under which key, what a rule's closure keeps, and
what a passing check does not say. Needs NumPy and autograd. Run by hand:

    python -B docs/experiments/custom_primitive.py

`snapshot` notes a state when `annotate run` records this script; by hand it does nothing. The
line about examples/define_gradient.py appears where autograd's repository or its source
distribution is on the path (`annotate run` sees to that); an installed wheel has no examples.
"""
# ruff: noqa: ARG001, ARG005 (a rule is called with ans and g, whether it needs them or not)

import runpy
import warnings
from pathlib import Path

import autograd
import numpy as np
from autograd import grad
from autograd.core import make_jvp, primitive_vjps
from autograd.extend import defvjp, primitive
from autograd.test_util import check_grads

from annotate.experiment import snapshot

np.random.seed(0)  # check_grads draws its test directions from NumPy's global generator
warnings.simplefilter("error")  # whatever is silent below is silent without our help


def failure(function, *arguments):
    """The exception that a call ends in."""
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError(f"{function.__name__} did not fail")


def raising_frame(error):
    """The call that raised, as it was left."""
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame


def raiser(error):
    """The qualified name of the function that raised."""
    return raising_frame(error).f_code.co_qualname


def registered(function):
    """What the registry holds for a function."""
    return primitive_vjps.get(function, "absent")


def captured(closure):
    """The names a closure keeps alive, in the order Python stores them."""
    return closure.__code__.co_freevars


# region: declare
@primitive
def square(x):
    return x * x


# endregion


# region: forward
value = square(3.0)
print(f"forward: square(3.0) = {value}")
assert value == 9.0
# endregion
snapshot("square(3.0)", registry=registered(square), value=value)

# region: missing
error = failure(grad(square), 3.0)
print(f"before defvjp: {error}")
print(f"raised by: {raiser(error)}")
assert type(error) is NotImplementedError
assert str(error) == "VJP of square wrt argnums (0,) not defined"
assert raiser(error) == "VJPNode.__init__"

error = failure(grad(square), 3)
print(f"integer input: {error}")
print(f"raised by: {raiser(error)}")
assert type(error) is TypeError
assert raiser(error) == "new_box"
# endregion
snapshot("grad(square)(3)", registry=registered(square), error=error)

# region: unfinished
error = failure(grad(square), 3.0)
left = raising_frame(error).f_locals
assert not hasattr(left["self"], "vjp")
snapshot(
    "grad(square)(3.0), no rule",
    registry=registered(square),
    value=left["value"],
    node=left["self"],
    error=error,
)
# endregion


# region: register
def square_vjp(ans, x):
    return lambda g: g * 2.0 * x


defvjp(square, square_vjp)
# endregion
snapshot("defvjp(square, …)", registry=registered(square))

# region: gradient
first = grad(square)(3.0)
second = grad(grad(square))(3.0)
print(f"after defvjp: grad(square)(3.0) = {first}")
print(f"after defvjp: grad(grad(square))(3.0) = {second}")
assert (first, second) == (6.0, 2.0)
# endregion


# region: watched
def watching(moment):
    """Make `square` with a look at the node it leaves, and at what the way back brings there."""

    def watched(x):
        answer = square(x)
        node = answer._node
        snapshot(f"{moment}: forward", registry=registered(square), value=answer._value, node=node)
        pullback = node.vjp

        def vjp(g):
            parts = pullback(g)
            snapshot(f"{moment}: backward", g=g, parts=parts)
            return parts

        node.vjp = vjp
        return answer

    return watched


# endregion

# region: second_trace
assert grad(watching("grad"))(3.0) == 6.0
# endregion

# region: second_derivative
assert grad(grad(watching("grad(grad)")))(3.0) == 2.0
# endregion

# region: check
check_grads(square, modes=["rev"], order=2)(3.0)
print("check_grads: reverse mode passes to order 2")
# endregion

# region: no_jvp
error = failure(make_jvp(square, 3.0), 1.0)
print(f"forward mode: {error}")
print(f"raised by: {raiser(error)}")
assert type(error) is NotImplementedError
assert raiser(error) == "JVPNode.__init__"
# endregion

# region: body
seen = []


@primitive
def spy(x):
    seen.append(type(x).__name__)
    return x * x


defvjp(spy, square_vjp)
grad(spy)(3.0)
print(f"the body was given: {', '.join(seen)}")
assert seen == ["float"]
# endregion

# region: captures
pullback = square_vjp(9.0, 3.0)
kept = [cell.cell_contents for cell in pullback.__closure__]
print(f"square's pullback captures: {', '.join(captured(pullback))}")
assert captured(pullback) == ("x",)
assert kept == [3.0]
# endregion

# region: captures_upstream
example = Path(autograd.__file__).parents[1] / "examples" / "define_gradient.py"
if example.exists():
    logsumexp_vjp = runpy.run_path(str(example))["logsumexp_vjp"]
    pullback = logsumexp_vjp(np.log(2.0), np.zeros(2))
    print(f"logsumexp's pullback captures: {', '.join(captured(pullback))}")
    assert set(captured(pullback)) == {"ans", "x", "x_shape"}
# endregion


# region: none_rule
@primitive
def cube(x):
    return x * x * x


defvjp(cube, None)
print(f"None as a rule: grad(cube)(3.0) = {grad(cube)(3.0)}, the derivative is 27.0")
assert grad(cube)(3.0) == 0.0

error = failure(check_grads(cube, modes=["rev"], order=1), 3.0)
print("None as a rule: no error, no warning; check_grads notices")
assert type(error) is AssertionError
assert str(error).startswith("Derivative (VJP) check of cube failed")
# endregion


# region: forgets_g
@primitive
def careless(x):
    return x * x


defvjp(careless, lambda ans, x: lambda g: 2.0 * x)
alone = grad(careless)(3.0)
scaled = grad(lambda x: 10.0 * careless(x))(3.0)
print(f"a rule that drops g: {alone} alone is right, {scaled} behind a factor of 10 is not")
assert (alone, scaled) == (6.0, 6.0)
assert grad(lambda x: 10.0 * square(x))(3.0) == 60.0
# endregion

# region: key
same_name = primitive(square.fun)
print(f"registered under square itself: {square in primitive_vjps}")
print(f"registered under the function inside: {square.fun in primitive_vjps}")
print(f"registered under its name: {square.__name__ in primitive_vjps}")
print(f"registered for another {same_name.__name__}: {same_name in primitive_vjps}")
assert square in primitive_vjps
assert square.fun not in primitive_vjps
assert square.__name__ not in primitive_vjps
assert same_name not in primitive_vjps
# endregion
