"""The C library's functions of real numbers as LLVM IR: graphics processors have none.

Straight-line code but for angles beyond a million, errors of one to three units in the last place, and C's values of special
arguments. Sines and cosines are those of :mod:`kineta.codegen.sincos`, whose large angles are reduced by 2/pi in binary
(Payne and Hanek 1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from kineta.codegen.cuda.expressions import (
    REAL,
    TRUTH,
    WORD,
    Operand,
    Register,
    definition,
    fma,
    magnitude,
    polynomial,
    root,
    select,
    with_sign,
)
from kineta.codegen.sincos import LARGE, literal, reduction, series

#: Parts of constants that are used with more than 53 bits.
PI = (3.141592653589793116e00, 1.224646799147353207e-16)
HALF_PI = (1.570796326794896558e00, 6.123233995736766036e-17)
QUARTER_PI = (7.853981633974482790e-01, 3.061616997868383018e-17)
LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
#: The arc tangent between -7/16 and 7/16 by the square of its argument, from fdlibm.
ATAN = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
#: The logarithm of (1 + s)/(1 - s) by s², from fdlibm.
LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
#: Words of 2/pi, behind one word of zeros: what an angle of 1024 bits needs.
WORDS = 20
_TOP = -(1 << 63)  # the bit of the sign
_ONE = 0x3FF << 52  # the bits of 1.0


def two_over_pi(words: int) -> list[int]:
    """The binary places of 2/pi in words of 64 bits, that of the units first, by Machin's formula in integers."""
    places = 64 * words + 64

    def arc_cotangent(n: int) -> int:
        total = term = (1 << places) // n
        k = 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total

    quarter = 4 * arc_cotangent(5) - arc_cotangent(239)
    # The bit of the units is the first: 2/pi = 1/(2 quarter) stands one place behind it.
    bits = (1 << (2 * places - 1)) // quarter >> (places - 64 * words + 1)
    return [bits >> (64 * (words - 1 - k)) & (1 << 64) - 1 for k in range(words)]


def _high(a: Register, b: Register) -> Register:
    """The upper word of the product of two unsigned words."""
    body = a.body
    wide = [body.new(f"zext {WORD} {x.text} to i128", "i128").text for x in (a, b)]
    product = body.new(f"mul i128 {wide[0]}, {wide[1]}", "i128").text
    upper = body.new(f"lshr i128 {product}, 64", "i128").text
    return body.new(f"trunc i128 {upper} to {WORD}", WORD)


def _shifted(high: Register, low: Register, by: Register) -> Register:
    """The upper word of two words that are shifted to the left."""
    return high.body.call("llvm.fshl.i64", high, low, by, kind=WORD)


def _carry(total: Register, summand: Register) -> Register:
    """One, as a word, if an unsigned sum is below a *summand* of it."""
    body = total.body
    test = body.new(f"icmp ult {WORD} {total.text}, {summand.text}", TRUTH)
    return body.new(f"zext i1 {test.text} to {WORD}", WORD)


def _far_angle(a: Register) -> tuple[Register, ...]:
    """Payne and Hanek's reduction of an angle beyond a million: the rest in two parts, then the multiple of pi/2, in words."""
    body = a.body
    bits = a.bits
    exponent = bits >> 52 & 0x7FF
    whole = bits & (1 << 52) - 1 | 1 << 52
    # The angle is whole 2^(exponent - 1075): places of 2/pi before number exponent - 1076 give multiples of 2 pi.
    place = exponent - (1076 - 64)
    index, shift = place >> 6, place & 63
    words = []
    for k in range(4):
        p = body.new(f"getelementptr {WORD}, ptr addrspace(4) @two.over.pi, {WORD} {(index + k).text}", "ptr")
        words.append(body.new(f"load {WORD}, ptr addrspace(4) {p.text}, align 8", WORD))
    w2, w1, w0 = (_shifted(words[k], words[k + 1], shift) for k in range(3))
    # The product modulo 4, with 190 binary places.
    low = whole * w0
    part = whole * w1
    middle = part + _high(whole, w0)
    high = whole * w2 + _high(whole, w1) + _carry(middle, part)
    quadrant = (high >> 62) + (high >> 61 & 1)
    # The rest lies between -1/2 and 1/2 once its first two bits are gone; its size is that of its complement.
    two = body.value(2, WORD)
    signed = _shifted(high, middle, two)
    sign = body.new(f"ashr {WORD} {signed.text}, 63", WORD)
    size = [word ^ sign for word in (signed, _shifted(middle, low, two), low << 2)]
    zeros = body.new(f"call {WORD} @llvm.ctlz.i64({WORD} {size[0].text}, i1 false)", WORD) & 63
    first, second = _shifted(size[0], size[1], zeros), _shifted(size[1], size[2], zeros)
    scale = ((1023 - 64) - zeros << 52).as_real
    upper = (first & ~0x7FF).unsigned * scale
    lower = ((first & 0x7FF) << 53 | second >> 11).unsigned * (scale * 2.0**-53)
    product = upper * HALF_PI[0]
    error = fma(upper, HALF_PI[0], -product) + fma(upper, HALF_PI[1], lower * HALF_PI[0])
    y = product + error
    tail = error - (y - product)
    negative = (bits ^ sign) & _TOP
    turned = select(bits < 0, 0 - quadrant, quadrant)
    lost = a - a  # NaN of what is no angle
    return (y.bits ^ negative).as_real + lost, (tail.bits ^ negative).as_real, turned


def _sincos() -> str:
    """The definition of ``{double, double} @sincos.1(double)`` for every angle."""
    three = f"{{{REAL}, {REAL}, {WORD}}}"
    parts = [("y", REAL), ("tail", REAL), ("k", WORD)]
    far = "".join(f"  %{name}.far = extractvalue {three} %far, {i}\n" for i, (name, _) in enumerate(parts))
    phi = "".join(f"  %{name} = phi {kind} [%{name}.near, %entry], [%{name}.far, %beyond]\n" for name, kind in parts)
    return f"""define internal {{{REAL}, {REAL}}} @sincos.1({REAL} %a) nounwind alwaysinline {{
entry:
  %size = call {REAL} @llvm.fabs.f64({REAL} %a)
  %large = fcmp ugt {REAL} %size, {literal(LARGE)}
{reduction(1, ".near")}  br i1 %large, label %beyond, label %all
beyond:
  %far = call {three} @far.angle({REAL} %a)
{far}  br label %all
all:
{phi}{series(1, fused=True)}  %p = insertvalue {{{REAL}, {REAL}}} poison, {REAL} %sin, 0
  %pair = insertvalue {{{REAL}, {REAL}}} %p, {REAL} %cos, 1
  ret {{{REAL}, {REAL}}} %pair
}}
"""


def _sines(a: Register) -> tuple[Register, Register]:
    pair = a.body.call("sincos.1", a, kind=f"{{{REAL}, {REAL}}}")
    return a.body.part(pair, 0), a.body.part(pair, 1)


def _sin(a: Register) -> tuple[Register, ...]:
    return (_sines(a)[0],)


def _cos(a: Register) -> tuple[Register, ...]:
    return (_sines(a)[1],)


def _tan(a: Register) -> tuple[Register, ...]:
    sine, cosine = _sines(a)
    return (sine / cosine,)


def _power_of_two(k: Register) -> Register:
    """2^k for a word k of a normal number."""
    return ((k + 1023) << 52).as_real


def _nearest(x: Register) -> tuple[Register, Register]:
    """The whole number nearest to x, of at most 51 bits, as a real number and as a word."""
    shifted = x + 6755399441055744.0
    return shifted - 6755399441055744.0, shifted.bits - 0x4338000000000000


def _exponential(x: Register, low: Register, shift: Operand) -> Register:
    """The value of exp(x + low) 2^shift for a small *low* and a shift of 0 or -1; NaN of NaN."""
    # Beyond these all is infinite, or zero.
    bounded = select(x > 712.0, 712.0, select(x < -747.0, -747.0, x))
    n, k = _nearest(bounded * (1.0 / math.log(2.0)))
    r = fma(n, -LN2[0], bounded)
    rest = fma(n, -LN2[1], low)
    y = r + rest
    tail = rest - (y - r)
    # exp y = 1 + (y + (y² (1/2 + y/6 + ...) + tail)).
    p = polynomial(y, tuple(1.0 / math.factorial(i) for i in range(2, 14)))
    found = 1.0 + (y + fma(y * y, p, fma(tail, y, tail)))
    k = k + shift
    half = k.body.new(f"ashr {WORD} {k.text}, 1", WORD)
    return found * _power_of_two(half) * _power_of_two(k - half)


def _exp(x: Register) -> tuple[Register, ...]:
    return (_exponential(x, x.body.value(0.0, REAL), 0),)


def _split(x: Register) -> tuple[Register, Register]:
    """A positive number as f, with 1 + f between √½ and √2, and the power k of two: x = 2^k (1 + f)."""
    small = x < 2.0**-1022
    bits = select(small, x * 2.0**54, x).bits
    # What is added brings √½ to the start of a binade.
    moved = bits + (_ONE - 0x3FE6A09E667F3BCD)
    k = (moved >> 52) - 1023 - select(small, x.body.value(54, WORD), 0)
    return ((moved & (1 << 52) - 1) + 0x3FE6A09E667F3BCD).as_real - 1.0, k.signed


def _logarithm(x: Register) -> tuple[Register, Register]:
    """The logarithm of a positive number in two parts, with some 65 bits."""
    f, k = _split(x)
    d = 2.0 + f
    s = f / d
    # d is rounded, and so is s: f - s d, exactly.
    rounding = f - (d - 2.0)
    s_low = (fma(-s, d, f) - s * rounding) / d
    z = s * s
    z_low = fma(s, s, -z) + 2.0 * s * s_low
    # log (1 + f) = 2 (s + s³ (1/3 + z (1/5 + z/7 + ...))).
    tail = polynomial(z, tuple(1.0 / i for i in range(5, 29, 2)))
    third = (1.0 / 3.0, 1.850371707708594e-17)
    c = fma(z, tail, third[0])
    c_low = fma(z, tail, third[0] - c) + third[1]
    cube = s * z
    cube_low = fma(s, z, -cube) + fma(s, z_low, s_low * z)
    p = cube * c
    p_low = fma(cube, c, -p) + fma(cube, c_low, cube_low * c)
    # The sum of k log 2, 2 s and 2 p, from the largest on.
    high = s + p
    low = ((s - high) + p) + (p_low + s_low)
    whole = k * LN2[0]  # exact: 33 bits and 11
    before = select(magnitude(whole) > 0.0, whole, 2.0 * high)
    after = select(magnitude(whole) > 0.0, 2.0 * high, 0.0)
    total = before + after
    rest = ((before - total) + after) + fma(low, 2.0, k * LN2[1])
    found = total + rest
    return found, rest - (found - total)


def _log(x: Register) -> tuple[Register, ...]:
    f, k = _split(x)
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    r = z * polynomial(z, LOG)
    found = fma(k, LN2[0], f - (half - fma(s, half + r, k * LN2[1])))
    found = select(x.equals(math.inf), math.inf, found)
    found = select(x.equals(0.0), -math.inf, found)
    return (select(x >= 0.0, found, select(x.undefined, x, math.nan)),)


def _pow(x: Register, y: Register) -> tuple[Register, ...]:
    size, far = magnitude(x), magnitude(y)
    high, low = _logarithm(size)
    # Powers beyond 2^64 have the value of 2^64; so no part is infinite.
    bounded = select(far > 2.0**64, with_sign(x.body.value(2.0**64, REAL), y), y)
    product = bounded * high
    below = fma(bounded, high, -product) + bounded * low
    found = _exponential(product, select(magnitude(product) < 800.0, below, 0.0), 0)
    found = select(size.equals(1.0), 1.0, found)
    vanishes = size.equals(0.0) & (y > 0.0) | size.equals(math.inf) & (y < 0.0)
    found = select(vanishes, 0.0, found)
    grows = size.equals(0.0) & (y < 0.0) | size.equals(math.inf) & (y > 0.0)
    found = select(grows, math.inf, found)
    # Whole powers: y is one beyond 2^53, and an odd one if half of it is none.
    is_whole, is_odd = _is_whole(far), _is_whole(far) & ~_is_whole(0.5 * far)
    found = select((x.bits < 0) & is_odd, -found, found)
    found = select((x < 0.0) & ~is_whole & (size < math.inf), math.nan, found)
    found = select(x.undefined | y.undefined, x + y, found)
    return (select(x.equals(1.0) | y.equals(0.0), 1.0, found),)


def _is_whole(size: Register) -> Register:
    """Whether a number that is not negative has no fraction."""
    return (size >= 2.0**52) | ((size + 2.0**52) - 2.0**52).equals(size)


def _atan2(y: Register, x: Register) -> tuple[Register, ...]:
    a, b = magnitude(y), magnitude(x)
    steep = a > b
    least, most = select(steep, b, a), select(steep, a, b)
    # Sums stay finite, and quotients of tiny numbers normal.
    scale = select(most > 1e300, 2.0**-4, select(most < 1e-290, 2.0**64, 1.0))
    both = least.equals(math.inf)
    least, most = select(both, 1.0, least * scale), select(both, 1.0, most * scale)
    wide = least > 0.41421356237309503 * most
    top, bottom = select(wide, least - most, least), select(wide, least + most, most)
    t = select(most.equals(0.0), 0.0, top / bottom)
    z = t * t
    found = fma(-t, z * polynomial(z, ATAN), t)
    found = select(wide, QUARTER_PI[0] + (found + QUARTER_PI[1]), found)
    found = select(steep, HALF_PI[0] - (found - HALF_PI[1]), found)
    found = select(x.bits < 0, PI[0] - (found - PI[1]), found)
    return (select(x.undefined | y.undefined, x + y, with_sign(found, y)),)


def _atan(x: Register) -> tuple[Register, ...]:
    return (x.body.call("atan2", x, x.body.value(1.0, REAL)),)


def _asin(x: Register) -> tuple[Register, ...]:
    return (x.body.call("atan2", x, root((1.0 - x) * (1.0 + x))),)


def _acos(x: Register) -> tuple[Register, ...]:
    return (x.body.call("atan2", root((1.0 - x) * (1.0 + x)), x),)


def _small_sinh(x: Register) -> Register:
    """The hyperbolic sine between -1 and 1."""
    z = x * x
    return fma(x, z * polynomial(z, tuple(1.0 / math.factorial(i) for i in range(3, 21, 2))), x)


def _halves(x: Register) -> tuple[Register, Register]:
    """The halves of exp |x| and of exp -|x|."""
    grown = _exponential(magnitude(x), x.body.value(0.0, REAL), -1)
    return grown, 0.25 / grown


def _sinh(x: Register) -> tuple[Register, ...]:
    grown, shrunk = _halves(x)
    return (select(magnitude(x) < 1.0, _small_sinh(x), with_sign(grown - shrunk, x)),)


def _cosh(x: Register) -> tuple[Register, ...]:
    grown, shrunk = _halves(x)
    return (grown + shrunk,)


def _tanh(x: Register) -> tuple[Register, ...]:
    grown, shrunk = _halves(x)
    size = magnitude(x)
    square = _exponential(size * 2.0, x.body.value(0.0, REAL), 0)
    large = with_sign(1.0 - 2.0 / (square + 1.0), x)
    return (select(size < 1.0, _small_sinh(x) / (grown + shrunk), large),)


#: Functions of the C library by name, with the number of their arguments.
FUNCTIONS: dict[str, tuple[int, Callable[..., tuple[Register, ...]]]] = {
    "sin": (1, _sin),
    "cos": (1, _cos),
    "tan": (1, _tan),
    "asin": (1, _asin),
    "acos": (1, _acos),
    "atan": (1, _atan),
    "atan2": (2, _atan2),
    "sinh": (1, _sinh),
    "cosh": (1, _cosh),
    "tanh": (1, _tanh),
    "exp": (1, _exp),
    "log": (1, _log),
    "pow": (2, _pow),
}
#: Functions that call others.
_CALLS = {"asin": "atan2", "acos": "atan2", "atan": "atan2"}
_TRIGONOMETRIC = {"sin", "cos", "tan", "sincos"}


def library(names: Iterable[str]) -> str:
    """Definitions of the functions *names* of :data:`FUNCTIONS`, ``sincos`` for ``@sincos.1``, and of what they call."""
    wanted = set(names)
    wanted |= {_CALLS[name] for name in wanted if name in _CALLS}
    parts = [definition(name, *FUNCTIONS[name]) for name in FUNCTIONS if name in wanted]
    if wanted & _TRIGONOMETRIC:
        words: Sequence[int] = [0, *two_over_pi(WORDS - 1)]
        table = ", ".join(f"{WORD} {word}" for word in words)
        parts.append(f"@two.over.pi = internal addrspace(4) constant [{WORDS} x {WORD}] [{table}], align 8\n")
        parts += [definition("far.angle", 1, _far_angle, "noinline cold"), _sincos()]
    return "".join([*parts, INTRINSICS])


#: Declarations of what the functions and programs use of LLVM.
INTRINSICS = "".join(
    f"declare {REAL} @llvm.{name}.f64({', '.join([REAL] * n)})\n"
    for name, n in {"fabs": 1, "floor": 1, "sqrt": 1, "copysign": 2, "minimum": 2, "maximum": 2, "fma": 3}.items()
) + (f"declare {WORD} @llvm.fshl.i64({WORD}, {WORD}, {WORD})\ndeclare {WORD} @llvm.ctlz.i64({WORD}, i1)\n")
