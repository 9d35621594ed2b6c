#!/usr/bin/env python3
"""Writes rowmath_coefficients.hpp: near-minimax polynomials for rowmath_kernels.cpp.

Each polynomial is a Chebyshev fit in 200-bit arithmetic (mpmath), rounded to f64 coefficients, lowest
order first. The comment above each array gives the interval and the largest error of the fit, before
the coefficients are rounded. Run by hand after a change: python3 rowmath_coefficients.py > rowmath_coefficients.hpp
"""

from mpmath import mp, mpf

mp.prec = 200


def half_erfcx_scaled(u):
    """(x + 2) * Q(x) * exp(x^2 / 2), Q the upper tail of the normal law, u = (x - 2) / (x + 2)."""
    if u >= 1 - mpf(2) ** -60:
        return 1 / mp.sqrt(2 * mp.pi)
    x = 2 * (1 + u) / (1 - u)
    if x > 1000:  # asymptotic series; the terms fall by 1/x^2
        term, total = mpf(1), mpf(0)
        for k in range(1, 14):
            total += term
            term *= -(2 * k - 1) / x**2
        return (x + 2) / x * total / mp.sqrt(2 * mp.pi)
    return (x + 2) * mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2


def series(f, g, switch):
    """f away from zero, the Taylor coefficients g near it (f cancels there)."""
    return lambda z: f(z) if z > switch else sum(c * z**k for k, c in enumerate(g))


LN2 = mp.log(2)
R = LN2 / 2 + mpf(2) ** -12
LOGZ = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * (1 + mpf(2) ** -12)
TRIG = (mp.pi / 4) ** 2 * (1 + mpf(2) ** -12)
ATANZ = mp.tan(mp.pi / 8) ** 2 * (1 + mpf(2) ** -12)

odd = lambda k: mpf(1) / (2 * k + 3)
FITS = [
    ("kExpTail", "(e^r - 1 - r) / r^2", "r", [-R, R], 10,
     lambda r: (mp.expm1(r) - r) / r**2 if abs(r) > mpf(10) ** -6
     else sum(r**k / mp.factorial(k + 2) for k in range(12))),
    ("kLogTail", "(2 atanh(s) / s - 2) / z", "z = s^2", [0, LOGZ], 7,
     series(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
            [2 * odd(k) for k in range(12)], mpf(10) ** -6)),
    ("kSinTail", "(sin(r) / r - 1) / z", "z = r^2", [0, TRIG], 6,
     series(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            [(-1) ** (k + 1) / mp.factorial(2 * k + 3) for k in range(12)], mpf(10) ** -6)),
    ("kCosTail", "(cos(r) - 1 + z / 2) / z^2", "z = r^2", [0, TRIG], 6,
     series(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
            [(-1) ** k / mp.factorial(2 * k + 4) for k in range(12)], mpf(10) ** -6)),
    ("kAtanTail", "(atan(t) / t - 1) / z", "z = t^2", [0, ATANZ], 11,
     series(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            [(-1) ** (k + 1) * odd(k) for k in range(16)], mpf(10) ** -6)),
    ("kErfRatio", "erf(x) / x", "z = x^2", [0, 1 + mpf(2) ** -12], 12,
     series(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z),
            [2 / mp.sqrt(mp.pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1)) for k in range(14)],
            mpf(10) ** -6)),
    ("kTailRatio", "(x + 2) Q(x) e^(x^2/2), Q(x) the upper normal tail", "u = (x - 2) / (x + 2)",
     [-1, 1], 31, half_erfcx_scaled),
]


def two_over_pi_words(count):
    """The binary fraction of 2/pi, 64 bits a word, most significant first."""
    with mp.workprec(64 * count + 64):
        value = 2 / mp.pi
        words = []
        for _ in range(count):
            value *= mpf(2) ** 64
            words.append(int(mp.floor(value)))
            value -= words[-1]
        return words


def hex_double(value):
    return float(value).hex()  # Python rounds an mpf to nearest even


def emit_split(name, value, bits, parts, comment):
    """Successive parts of `bits` significant bits each; the last one is rounded to f64."""
    print(f"// {comment}")
    rest = value
    for i in range(parts):
        if i + 1 < parts:
            _, e = mp.frexp(rest)
            part = mp.floor(mp.ldexp(rest, bits - e)) * mpf(2) ** (int(e) - bits)
        else:
            part = rest
        print(f"inline constexpr double {name}{i + 1} = {hex_double(part)};")
        rest -= part


print("""#pragma once

// Written by rowmath_coefficients.py; do not edit. Polynomials are lowest order first.

#include <cstdint>

namespace krait::numerics_detail {

// clang-format off""")
for name, what, var, interval, count, f in FITS:
    poly, err = mp.chebyfit(f, interval, count, error=True)
    print(f"// {what}, {var} in [{mp.nstr(mpf(interval[0]), 6)}, {mp.nstr(mpf(interval[1]), 6)}]; "
          f"error of the fit 2^{mp.nstr(mp.log(err, 2), 4)}")
    print(f"inline constexpr double {name}[] = {{")
    for c in reversed(poly):
        print(f"    {hex_double(c)},")
    print("};")

a = 2 * mp.sqrt(2 / mp.pi)
emit_split("kLn2Part", LN2, 42, 2, "ln 2: the first part has 42 bits, so n * kLn2Part1 is exact for |n| < 2048")
emit_split("kHalfPiPart", mp.pi / 2, 33, 4, "pi/2: 33 bits a part, so n * part is exact for |n| < 2^20")
emit_split("kPiOver4Part", mp.pi / 4, 53, 2, "pi/4 = Part1 + Part2; pi/2 is twice these")
emit_split("kGeluSigmoidPart", mpf("1.702"), 29, 2, "1.702: part 1 times a 24-bit x is exact")
emit_split("kGeluTanhLinearPart", a, 53, 2, "2 sqrt(2/pi)")
emit_split("kGeluTanhCubicPart", a * mpf("0.044715"), 26, 2, "2 sqrt(2/pi) 0.044715")
print(f"inline constexpr double kLog2E = {hex_double(1 / LN2)};")
print(f"inline constexpr double kTwoOverPi = {hex_double(2 / mp.pi)};")
print(f"inline constexpr double kSqrt2 = {hex_double(mp.sqrt(2))};")
print("// The binary fraction of 2/pi, most significant word first; enough for every f64.")
print("inline constexpr std::uint64_t kTwoOverPiBits[] = {")
for w in two_over_pi_words(21):
    print(f"    0x{w:016X},")
print("""};
// clang-format on

}  // namespace krait::numerics_detail""")
