# Run by CTest with BUILD, SOURCE, SCRATCH, GENERATOR, COMPILER and FLAGS; see CMakeLists.txt.

# step(name command...): stops with the command's output if it fails; else leaves it in `output`.
function(step name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "install_test: ${name} failed (${result})\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_match text pattern what)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "install_test: ${what}: no match of '${pattern}' in\n${text}")
  endif()
endfunction()

# An empty environment for compiler flags: what the consumer needs must come with the targets.
set(ENV{CXXFLAGS} "")
set(ENV{LDFLAGS} "")
set(prefix ${SCRATCH}/prefix)
file(REMOVE_RECURSE ${SCRATCH})

step("cmake --install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
step("configuring the consumer" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${SCRATCH}/build
     -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS}
     -DCMAKE_BUILD_TYPE=Release -DKRAIT_PREFIX=${prefix})
step("building the consumer" ${CMAKE_COMMAND} --build ${SCRATCH}/build)
step("running the consumer" ${SCRATCH}/build/consumer ${SCRATCH}/t.safetensors)
expect_match("${output}" "t = \\[2, 3\\] bf16: 1 2 3 4 5 6" "the consumer's output")

# The command runs from where it was installed.
step("krait --help" ${prefix}/bin/krait --help)

# What is exported names neither the build tree nor our own flags.
file(GLOB_RECURSE exported ${prefix}/*.cmake)
if(NOT exported)
  message(FATAL_ERROR "install_test: no CMake package in ${prefix}")
endif()
foreach(file ${exported})
  file(READ ${file} text)
  foreach(private krait_flags "${BUILD}/" -Werror)
    string(FIND "${text}" "${private}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "install_test: ${file} holds '${private}'")
    endif()
  endforeach()
endforeach()
