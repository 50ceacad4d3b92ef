# Writes the examples as a C file: cmake -D FOLDER=openapi/examples -D OUTPUT=x.c -P embed.cmake
# Large ones are left out: the description would only grow.
file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(texts "")
set(rows "")
set(number 0)
list(FILTER files EXCLUDE REGEX "\\.answer\\.json$")
foreach(file IN LISTS files)
    file(SIZE "${file}" size)
    if(size GREATER 8192)
        continue()
    endif()
    math(EXPR number "${number} + 1")
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND texts "static const unsigned char text_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", (const char *)text_${number}},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "/* Generated from openapi/examples/ by openapi/embed.cmake. */
#include \"service/openapi.h\"

${texts}
const struct openapi_example openapi_examples[] = {
${rows}    {0},
};
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
