#pragma once

// KRAIT_CLONES: compiles a plain loop once per vector width and chooses at load time. With
// contraction off every clone computes the same bits. Left out under sanitizers (their runtimes are
// not ready when the resolver runs) and where the compiler has no such attribute.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KRAIT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KRAIT_CLONES
#endif
