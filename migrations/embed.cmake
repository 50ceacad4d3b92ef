# Writes the migrations as a C file: cmake -D FOLDER=migrations -D OUTPUT=x.c -P embed.cmake
# The texts become byte arrays, because a C compiler need not take long strings.
file(GLOB files "${FOLDER}/[0-9][0-9][0-9][0-9]_*.sql")
list(SORT files)
set(texts "")
set(rows "")
set(version 0)
foreach(file IN LISTS files)
    math(EXPR version "${version} + 1")
    get_filename_component(name "${file}" NAME_WE)
    string(REGEX MATCH "^0*([0-9]+)_" ignored "${name}")
    if(NOT CMAKE_MATCH_1 EQUAL version)
        message(FATAL_ERROR "${file}: the next migration is number ${version}")
    endif()
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REPEAT "0x..," 16 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND texts "static const unsigned char sql_${version}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {${version}, \"${name}\", (const char *)sql_${version}},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "/* Generated from migrations/ by migrations/embed.cmake. */
#include \"service/migrate.h\"

${texts}
const struct migration migrations[] = {
${rows}};
const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
