# cmake -DNAME=kChartJs -DINPUT=chart.min.js -DOUTPUT=chart_js.cpp -P embed.cmake
# Makes a source with the bytes of a text file as krait::study::embedded::NAME. A raw string literal
# compiles in no time even for 200 KB, which a list of numbers does not.
file(READ "${INPUT}" bytes)
string(FIND "${bytes}" ")krait-embed\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds the delimiter of the raw string")
endif()
file(WRITE "${OUTPUT}.new" "// Made from ${INPUT} at build time.
#include \"krait/study/embedded.hpp\"

namespace krait::study::embedded {
const std::string_view ${NAME} = R\"krait-embed(${bytes})krait-embed\";
}
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
