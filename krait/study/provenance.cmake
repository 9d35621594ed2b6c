# cmake -DSOURCE_DIR=... -DRELEASE=0.1.0 -DOUTPUT=provenance.cpp -P provenance.cmake
# Writes what identifies this build: the git commit, and a hash of every source of the library that
# can change a result. The hash is of the files themselves, so uncommitted changes and trees without
# git are told apart too. Tests and the pages' style do not count.
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${SOURCE_DIR}"
     "${SOURCE_DIR}/krait/*.cpp" "${SOURCE_DIR}/krait/*.hpp" "${SOURCE_DIR}/krait/*.inc")
list(FILTER files EXCLUDE REGEX "_test\\.cpp$|^krait/study/")
list(SORT files)
# How jobs are executed and keyed decides results too; the rest of the study does not.
foreach(file execute.cpp job.cpp measure.cpp predict.cpp)
  if(EXISTS "${SOURCE_DIR}/krait/study/${file}")
    list(APPEND files "krait/study/${file}")
  endif()
endforeach()
set(all "")
foreach(file ${files})
  file(SHA256 "${SOURCE_DIR}/${file}" hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 sources "${all}")
string(SUBSTRING "${sources}" 0 12 sources)

set(commit "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" diff --quiet HEAD -- krait apps
                    RESULT_VARIABLE changed ERROR_QUIET)
    set(commit "${head}")
    if(changed)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()

file(WRITE "${OUTPUT}.new" "// Made by krait/study/provenance.cmake at build time.
#include \"krait/study/provenance.hpp\"

namespace krait::study {
std::string_view program_version() { return \"${RELEASE}+${sources}\"; }
std::string_view build_commit() { return \"${commit}\"; }
}  // namespace krait::study
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
