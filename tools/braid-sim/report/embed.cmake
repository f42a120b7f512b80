# page.html with style.css and the scripts in it, as a string of C++: OUTPUT becomes a source of braid-sim. Run by CMake when
# one of them changes (cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake).
file(READ ${FOLDER}/page.html page)
foreach(part style.css format.js timeline.js tables.js page.js)
  file(READ ${FOLDER}/${part} text)
  string(REPLACE "{{${part}}}" "${text}" page "${page}")
endforeach()

# A string literal may be limited to 64 KiB by a compiler; neighbours are one string.
set(literals "")
string(LENGTH "${page}" length)
set(at 0)
while(at LESS length)
  string(SUBSTRING "${page}" ${at} 10000 piece)
  string(APPEND literals "R\"page~(${piece})page~\"\n")
  math(EXPR at "${at} + 10000")
endwhile()
file(WRITE ${OUTPUT} "// Made from ${FOLDER} by embed.cmake.
#include \"report/Page.h\"
const char mlir::braid::sim::reportPage[] =
${literals};
")
