#pragma once

// Written by rowmath_coefficients.py; do not edit. Polynomials are lowest order first.

#include <cstdint>

namespace krait::numerics_detail {

// clang-format off
// (e^r - 1 - r) / r^2, r in [-0.346818, 0.346818]; error of the fit 2^-53.07
inline constexpr double kExpTail[] = {
    0x1.0000000000001p-1,
    0x1.5555555555556p-3,
    0x1.5555555553d45p-5,
    0x1.11111111109aap-7,
    0x1.6c16c178976f9p-10,
    0x1.a01a01a7cb3e6p-13,
    0x1.a019b8e02e162p-16,
    0x1.71de0d92b676cp-19,
    0x1.2891bad81b7d7p-22,
    0x1.af38eb797eb13p-26,
};
// (2 atanh(s) / s - 2) / z, z = s^2 in [0.0, 0.0294444]; error of the fit 2^-51.52
inline constexpr double kLogTail[] = {
    0x1.5555555555558p-1,
    0x1.99999999952c7p-2,
    0x1.2492492df444cp-2,
    0x1.c71c62e1b1e4bp-3,
    0x1.7462b5c065783p-3,
    0x1.39fe3c67dcdc0p-3,
    0x1.2b5a077a3eeb9p-3,
};
// (sin(r) / r - 1) / z, z = r^2 in [0.0, 0.617001]; error of the fit 2^-55.44
inline constexpr double kSinTail[] = {
    -0x1.5555555555555p-3,
    0x1.1111111110bb1p-7,
    -0x1.a01a019e83457p-13,
    0x1.71de37960683fp-19,
    -0x1.ae600a79a5474p-26,
    0x1.5e0ae89a286e4p-33,
};
// (cos(r) - 1 + z / 2) / z^2, z = r^2 in [0.0, 0.617001]; error of the fit 2^-59.44
inline constexpr double kCosTail[] = {
    0x1.5555555555555p-5,
    -0x1.6c16c16c16966p-10,
    0x1.a01a019f4e7d4p-16,
    -0x1.27e4fa1798342p-22,
    0x1.1eeb68a4a27b6p-29,
    -0x1.907d71fd257b0p-37,
};
// (atan(t) / t - 1) / z, z = t^2 in [0.0, 0.171615]; error of the fit 2^-54.81
inline constexpr double kAtanTail[] = {
    -0x1.5555555555555p-2,
    0x1.9999999999348p-3,
    -0x1.2492492435f0ap-3,
    0x1.c71c71851fb3fp-4,
    -0x1.745d0b23ed5efp-4,
    0x1.3b12629878d63p-4,
    -0x1.10fa71a6a8252p-4,
    0x1.dfe5e0844c4acp-5,
    -0x1.a097771b7b6edp-5,
    0x1.415c8d8391801p-5,
    -0x1.3a2283f5062b7p-6,
};
// erf(x) / x, z = x^2 in [0.0, 1.00024]; error of the fit 2^-56.91
inline constexpr double kErfRatio[] = {
    0x1.20dd750429b6dp+0,
    -0x1.812746b0379c0p-2,
    0x1.ce2f21a040f55p-4,
    -0x1.b82ce312032f9p-6,
    0x1.565bccfa3a84ap-8,
    -0x1.c02db064e2141p-11,
    0x1.f9a2be2ac74c3p-14,
    -0x1.f4ca814761affp-17,
    0x1.b981c09fedd4dp-20,
    -0x1.5c12856dde37ap-23,
    0x1.d76700431a3f4p-27,
    -0x1.ac8974bd3be3ap-31,
};
// (x + 2) Q(x) e^(x^2/2), Q(x) the upper normal tail, u = (x - 2) / (x + 2) in [-1.0, 1.0]; error of the fit 2^-57.1
inline constexpr double kTailRatio[] = {
    0x1.5845dcad2a54ep-1,
    -0x1.535bafa73c588p-2,
    0x1.d7d0e2393eb99p-6,
    0x1.2ccbfbf0c79b0p-5,
    -0x1.ec6870b9fdac4p-12,
    -0x1.b8b937f9a43e9p-8,
    -0x1.ff79b9ec5fd0cp-10,
    0x1.9ba0c77e892c3p-11,
    0x1.b1b0c5e0d7307p-11,
    0x1.b217a17388bfap-13,
    -0x1.e540d410377e4p-14,
    -0x1.0d961832907c4p-13,
    -0x1.82510fcccb2cap-15,
    0x1.444a33d10b252p-17,
    0x1.6bfc62756e285p-16,
    0x1.a7f3ef79596c7p-17,
    0x1.14a2b6d36dba5p-19,
    -0x1.95b5ad160087cp-19,
    -0x1.9a3e5ff22f979p-19,
    -0x1.169c054b1a533p-20,
    0x1.cb58dec954899p-26,
    -0x1.085fc21b5894dp-23,
    0x1.fdd8f0bd2c32bp-23,
    0x1.b8865bb4a83eap-21,
    0x1.281a99c7db20bp-22,
    -0x1.00b19be1e1800p-21,
    -0x1.2d67b890b23fep-22,
    0x1.06e5f156fdfebp-23,
    0x1.9dbf1f69064ffp-24,
    -0x1.ace7cc6608ba6p-27,
    -0x1.acba831e2b88ep-27,
};
// ln 2: the first part has 42 bits, so n * kLn2Part1 is exact for |n| < 2048
inline constexpr double kLn2Part1 = 0x1.62e42fefa3800p-1;
inline constexpr double kLn2Part2 = 0x1.ef35793c76730p-45;
// pi/2: 33 bits a part, so n * part is exact for |n| < 2^20
inline constexpr double kHalfPiPart1 = 0x1.921fb54400000p+0;
inline constexpr double kHalfPiPart2 = 0x1.0b4611a600000p-34;
inline constexpr double kHalfPiPart3 = 0x1.3198a2e000000p-69;
inline constexpr double kHalfPiPart4 = 0x1.b839a252049c1p-104;
// pi/4 = Part1 + Part2; pi/2 is twice these
inline constexpr double kPiOver4Part1 = 0x1.921fb54442d18p-1;
inline constexpr double kPiOver4Part2 = 0x1.1a62633145c07p-55;
// 1.702: part 1 times a 24-bit x is exact
inline constexpr double kGeluSigmoidPart1 = 0x1.b3b645a000000p+0;
inline constexpr double kGeluSigmoidPart2 = 0x1.cac083126e979p-32;
// 2 sqrt(2/pi)
inline constexpr double kGeluTanhLinearPart1 = 0x1.9884533d43650p+0;
inline constexpr double kGeluTanhLinearPart2 = 0x1.1a1f9678a0175p-53;
// 2 sqrt(2/pi) 0.044715
inline constexpr double kGeluTanhCubicPart1 = 0x1.2444f28000000p-4;
inline constexpr double kGeluTanhCubicPart2 = 0x1.26c5a57a4def1p-31;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
// The binary fraction of 2/pi, most significant word first; enough for every f64.
inline constexpr std::uint64_t kTwoOverPiBits[] = {
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
};
// clang-format on

}  // namespace krait::numerics_detail
