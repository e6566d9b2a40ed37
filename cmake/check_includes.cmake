# cmake -P check_includes.cmake: does a module include only headers of itself and of the modules it may use?
# Takes ROOT, NAME, FOLDER, FILES and ALLOWED (folders), lists with ';'. Run by the build for every module (module.cmake).
# A module is one folder, so the folder of a header says whose it is.
cmake_policy(VERSION 3.25)
foreach(file IN LISTS FILES)
    file(STRINGS "${file}" includes REGEX "^#include \"(common|spark-bridge|analyzer|receiver)/")
    foreach(line IN LISTS includes)
        string(REGEX REPLACE "^#include \"([^\"]+)/[^\"/]+\".*" "\\1" folder "${line}")
        if(NOT folder STREQUAL FOLDER AND NOT folder IN_LIST ALLOWED)
            file(RELATIVE_PATH shown "${ROOT}" "${file}")
            message(FATAL_ERROR "${shown} includes a header of ${folder}/, which ${NAME} may not use (docs/ARCHITECTURE.md)")
        endif()
    endforeach()
endforeach()
