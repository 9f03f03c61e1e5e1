"""Sine and cosine together, as LLVM IR for any vector width.

Reduction by the nearest multiple of pi/2 in three parts of 33 bits (exact products up to 2^20 multiples) with a tail, then
the minimax polynomials of fdlibm on [-pi/4, pi/4]; error below 1 ulp. Arguments beyond a million, infinities and NaN are passed
to the C library, lane by lane; results of the other lanes are not affected.
"""

from __future__ import annotations

import struct

PI_2 = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
TWO_PI_INVERSE = 6.36619772367581382433e-01
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
LARGE = 1.0e6
#: Numbers of angles whose sines and cosines one call computes, and its name before the number.
WIDTHS = (1, 2, 4, 8)
SINES = "sincos."


def literal(value: float) -> str:
    """A double, exactly."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def real(width: int) -> str:
    """Type of *width* doubles."""
    return "double" if width == 1 else f"<{width} x double>"


def constant(value: float, width: int) -> str:
    """*value* in every lane."""
    return literal(value) if width == 1 else f"splat (double {literal(value)})"


def suffix(width: int) -> str:
    """Overload suffix of intrinsics on *width* doubles."""
    return "f64" if width == 1 else f"v{width}f64"


class _Angles:
    """Writer of instructions on *width* angles; with *fused* a b + c is rounded once."""

    def __init__(self, width: int, *, fused: bool = False) -> None:
        self.width, self.fused = width, fused
        self.T, self.I = real(width), "i64" if width == 1 else f"<{width} x i64>"
        self.B = "i1" if width == 1 else f"<{width} x i1>"
        self.lines: list[str] = []

    def put(self, name: str, operation: str, a: str, b: str, kind: str = "") -> str:
        self.lines.append(f"  %{name} = {operation} {kind or self.T} {a}, {b}\n")
        return f"%{name}"

    def minus(self, name: str, a: str) -> str:
        self.lines.append(f"  %{name} = fneg {self.T} {a}\n")
        return f"%{name}"

    def multiply_add(self, name: str, a: str, b: str, c: str) -> str:
        """A b + c."""
        if not self.fused:
            return self.put(name, "fadd", self.put(f"{name}p", "fmul", a, b), c)
        arguments = ", ".join(f"{self.T} {x}" for x in (a, b, c))
        self.lines.append(f"  %{name} = call {self.T} @llvm.fma.{suffix(self.width)}({arguments})\n")
        return f"%{name}"

    def real(self, value: float) -> str:
        return constant(value, self.width)

    def integer(self, value: int) -> str:
        return str(value) if self.width == 1 else f"splat (i64 {value})"


def reduction(width: int, suffix: str = "") -> str:
    """Instructions from angles ``%a`` up to a million to the nearest multiple of pi/2, ``%k``, whose last bits count, and the
    rest in two parts, ``%y`` and ``%tail``; all three names with a *suffix*.
    """
    w = _Angles(width)
    put, c = w.put, w.real
    put("scaled", "fmul", "%a", c(TWO_PI_INVERSE))
    put("shifted", "fadd", "%scaled", c(ROUND))
    w.lines.append(f"  %k{suffix} = bitcast {w.T} %shifted to {w.I}\n")
    put("n", "fsub", "%shifted", c(ROUND))
    put("w1", "fmul", "%n", c(PI_2[0]))
    put("r1", "fsub", "%a", "%w1")
    put("w2", "fmul", "%n", c(PI_2[1]))
    put("r2", "fsub", "%r1", "%w2")
    put("e1", "fsub", "%r1", "%r2")
    put("e2", "fsub", "%e1", "%w2")
    put("w3", "fmul", "%n", c(PI_2[2]))
    put("tail0", "fsub", "%e2", "%w3")
    y = put(f"y{suffix}", "fadd", "%r2", "%tail0")
    put("e3", "fsub", "%r2", y)
    put(f"tail{suffix}", "fadd", "%e3", "%tail0")
    return "".join(w.lines)


def series(width: int, *, fused: bool) -> str:
    """Instructions from what :func:`reduction` gives to the sines ``%sin`` and the cosines ``%cos``."""
    w = _Angles(width, fused=fused)
    put, add, c, T, I = w.put, w.multiply_add, w.real, w.T, w.I

    def polynomial(name: str, coefficients: tuple[float, ...]) -> str:
        total = c(coefficients[-1])
        for k, coefficient in enumerate(reversed(coefficients[:-1])):
            total = add(f"{name}{k}", total, "%z", c(coefficient))
        return total

    put("z", "fmul", "%y", "%y")
    # sin = y - ((z (tail/2 - v r) - tail) - v S1), v = z y
    put("v", "fmul", "%z", "%y")
    r = polynomial("s", SIN[1:])
    put("half", "fmul", "%tail", c(0.5))
    add("s_a", w.minus("vm", "%v"), r, "%half")
    add("s_b", "%z", "%s_a", w.minus("tailm", "%tail"))
    add("s_c", "%vm", c(SIN[0]), "%s_b")
    put("sin0", "fsub", "%y", "%s_c")
    # cos = w + (((1 - w) - z/2) + (z z r - y tail)), w = 1 - z/2
    q = polynomial("c", COS)
    put("hz", "fmul", "%z", c(0.5))
    put("w", "fsub", c(1.0), "%hz")
    put("c_a", "fsub", c(1.0), "%w")
    put("c_b", "fsub", "%c_a", "%hz")
    put("zz", "fmul", "%z", "%z")
    put("yt", "fmul", "%y", "%tail")
    add("c_c", "%zz", q, w.minus("ytm", "%yt"))
    put("c_d", "fadd", "%c_b", "%c_c")
    put("cos0", "fadd", "%w", "%c_d")
    # Quadrants: odd ones swap; the second bit of k (of k + 1 for the cosine) is the sign.
    put("odd", "and", "%k", w.integer(1), I)
    put("swap", "icmp ne", "%odd", w.integer(0), I)
    for name, first, second in (("sin", "%cos0", "%sin0"), ("cos", "%sin0", "%cos0")):
        w.lines.append(f"  %{name}1 = select {w.B} %swap, {T} {first}, {T} {second}\n")
    put("k1", "add", "%k", w.integer(1), I)
    for name, k in (("sin", "%k"), ("cos", "%k1")):
        put(f"{name}bit", "and", k, w.integer(2), I)
        put(f"{name}sign", "shl", f"%{name}bit", w.integer(62), I)
        w.lines.append(f"  %{name}i = bitcast {T} %{name}1 to {I}\n")
        put(f"{name}j", "xor", f"%{name}i", f"%{name}sign", I)
        w.lines.append(f"  %{name} = bitcast {I} %{name}j to {T}\n")
    return "".join(w.lines)


def sincos(width: int, *, fused: bool) -> str:
    """Definition of ``{T, T} @sincos.W(T)``: the sines and the cosines of *width* angles; with *fused* on a processor that rounds
    a b + c once.
    """
    T, B = real(width), "i1" if width == 1 else f"<{width} x i1>"
    any_large = "%large" if width == 1 else "%any"
    reduce = "" if width == 1 else f"  %any = call i1 @llvm.vector.reduce.or.v{width}i1({B} %large)\n"
    return f"""
define {{{T}, {T}}} @{SINES}{width}({T} %a) nounwind {{
  %size = call {T} @llvm.fabs.{suffix(width)}({T} %a)
  %large = fcmp ugt {T} %size, {constant(LARGE, width)}
{reduce}{reduction(width)}{series(width, fused=fused)}  br i1 {any_large}, label %slow, label %fast, !prof !0
fast:
  %p = insertvalue {{{T}, {T}}} poison, {T} %sin, 0
  %pair = insertvalue {{{T}, {T}}} %p, {T} %cos, 1
  ret {{{T}, {T}}} %pair
slow:
  %any_sin = call {T} @lanes.sin.{width}({T} %a)
  %any_cos = call {T} @lanes.cos.{width}({T} %a)
  %slow_sin = select {B} %large, {T} %any_sin, {T} %sin
  %slow_cos = select {B} %large, {T} %any_cos, {T} %cos
  %slow_p = insertvalue {{{T}, {T}}} poison, {T} %slow_sin, 0
  %slow_pair = insertvalue {{{T}, {T}}} %slow_p, {T} %slow_cos, 1
  ret {{{T}, {T}}} %slow_pair
}}
"""


def lanes(function: str, width: int, arguments: int = 1) -> str:
    """Definition of ``T @lanes.function.W(T ...)``: the C library's *function* applied lane by lane."""
    T = real(width)
    names = ["%a", "%b"][:arguments]
    signature = ", ".join(f"{T} {n}" for n in names)
    lines = []
    result = "poison"
    for lane in range(width):
        operands = names
        if width > 1:
            operands = [f"{n}{lane}" for n in names]
            lines += [f"  {o} = extractelement {T} {n}, i32 {lane}" for o, n in zip(operands, names, strict=True)]
        call = ", ".join(f"double {o}" for o in operands)
        lines.append(f"  %f{lane} = call double @{function}({call})")
        if width > 1:
            lines.append(f"  %r{lane} = insertelement {T} {result}, double %f{lane}, i32 {lane}")
        result = f"%r{lane}" if width > 1 else f"%f{lane}"
    body = "\n".join(lines)
    head = f"define internal {T} @lanes.{function}.{width}({signature}) nounwind noinline cold"
    return f"{head} {{\n{body}\n  ret {T} {result}\n}}\n"
