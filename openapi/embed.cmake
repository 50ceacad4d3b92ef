# Writes the examples as a C file: cmake -D FOLDER=openapi/examples -D OUTPUT=x.c -P embed.cmake
# Of refused requests, of other answers than 200 and 201, and large ones are left out: the
# description has none of them.
file(GLOB answers "${FOLDER}/*.answer.json")
list(SORT answers)
set(texts "")
set(rows "")
set(number 0)

# Sets `name` to that of the file's text, NULL without a file.
function(embed file name)
    set(${name} NULL PARENT_SCOPE)
    if(EXISTS "${file}")
        file(READ "${file}" hex HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
        math(EXPR number "${number} + 1")
        set(number ${number} PARENT_SCOPE)
        set(texts "${texts}static const unsigned char text_${number}[] = {${bytes}0};\n" PARENT_SCOPE)
        set(${name} "(const char *)text_${number}" PARENT_SCOPE)
    endif()
endfunction()

foreach(answer IN LISTS answers)
    get_filename_component(name "${answer}" NAME_WE)
    set(request "${FOLDER}/${name}.json")
    if(NOT EXISTS "${request}")
        set(request "${FOLDER}/${name}.txt")
    endif()
    set(size 0)
    if(EXISTS "${request}")
        file(SIZE "${request}" size)
    endif()
    file(SIZE "${answer}" answer_size)
    if(name MATCHES "^error-" OR EXISTS "${FOLDER}/${name}.status" OR size GREATER 8192
        OR answer_size GREATER 8192)
        continue()
    endif()
    embed("${request}" request_text)
    embed("${answer}" answer_text)
    string(APPEND rows "    {\"${name}\", ${request_text}, ${answer_text}},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "/* Generated from openapi/examples/ by openapi/embed.cmake. */
#include \"service/openapi.h\"

${texts}
const struct openapi_example openapi_examples[] = {
${rows}    {0},
};
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
