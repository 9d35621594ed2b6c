# Options and the flags that belong to our own builds, never to consumers.
option(KRAIT_BUILD_TESTS "Build the unit and cross-layer tests" ON)
option(KRAIT_BUILD_BENCH "Build the benchmarks (needs Google Benchmark)" OFF)
option(KRAIT_BUILD_EXAMPLES "Build the examples" ON)
option(KRAIT_BUILD_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
option(KRAIT_WERROR "Treat warnings as errors" OFF)
set(KRAIT_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, e.g. address,undefined or thread")

add_library(krait_flags INTERFACE)
target_compile_features(krait_flags INTERFACE cxx_std_20)
# No contraction: a*b+c must give the same bits on every CPU and compiler; where a fused
# multiply-add is wanted the code says std::fma or hwy's MulAdd.
target_compile_options(krait_flags INTERFACE -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion
                       -Wno-sign-conversion -Wno-missing-field-initializers -Wnon-virtual-dtor -Wold-style-cast)
# For executables whose time goes into the library: a third less compile time than -O3.
add_library(krait_light INTERFACE)
target_compile_options(krait_light INTERFACE $<$<CONFIG:Release>:-O1>)
if(KRAIT_WERROR)
  target_compile_options(krait_flags INTERFACE -Werror)
endif()
if(KRAIT_SANITIZE)
  target_compile_options(krait_flags INTERFACE -fsanitize=${KRAIT_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(krait_flags INTERFACE -fsanitize=${KRAIT_SANITIZE})
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
