# krait_library(NAME DEPENDS ... LIBS ... PRIVATE_LIBS ... HEADERS ... SOURCES ... TESTS ...)
#
# One static library a layer, target krait_NAME, alias Krait::NAME. DEPENDS names layers of ours,
# LIBS third-party targets that consumers need, PRIVATE_LIBS those they do not. HEADERS become the
# installed file set, so what is installed is exactly what is listed. TESTS become one executable
# NAME_test, labelled unit.
function(krait_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LIBS;PRIVATE_LIBS;HEADERS;SOURCES;TESTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "krait_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target krait_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(Krait::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${arg_HEADERS})
  target_compile_features(${target} ${scope} cxx_std_20)
  foreach(dep ${arg_DEPENDS})
    target_link_libraries(${target} ${scope} krait_${dep})
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_LIBS})
  if(arg_SOURCES)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:krait_flags> ${arg_PRIVATE_LIBS})
  endif()
  set_property(GLOBAL APPEND PROPERTY KRAIT_LAYERS ${name})
  if(arg_TESTS AND KRAIT_BUILD_TESTS)
    krait_test(${name}_test LABEL unit SOURCES ${arg_TESTS} LIBS ${target})
  endif()
endfunction()

# krait_test(NAME LABEL label SOURCES ... LIBS ...): one GoogleTest executable, one CTest entry.
function(krait_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "SOURCES;LIBS;ENVIRONMENT")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} krait_flags krait_light GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
                             KRAIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             KRAIT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # tests_LABEL builds the executables of one label and nothing else.
  if(NOT TARGET tests_${arg_LABEL})
    add_custom_target(tests_${arg_LABEL})
  endif()
  add_dependencies(tests_${arg_LABEL} ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
