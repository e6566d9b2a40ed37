# cmake -P check_includes.cmake: does a module include only headers of itself and of the modules it may use?
# Takes ROOT, NAME, FOLDER, FILES and ALLOWED (folders), lists with ';'. Run by the build for every module (module.cmake).
cmake_policy(VERSION 3.25)
set(folders common/base common/model common/wire common/store analyzer/calltree analyzer/core analyzer/archive
    analyzer/query receiver analyzer spark-bridge)
foreach(file IN LISTS FILES)
    file(STRINGS "${file}" includes REGEX "^#include \"[^\"]+/")
    foreach(line IN LISTS includes)
        string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${line}")
        foreach(folder IN LISTS folders) # the longest folder that holds the header comes first
            if(header MATCHES "^${folder}/")
                if(NOT folder STREQUAL FOLDER AND NOT folder IN_LIST ALLOWED)
                    file(RELATIVE_PATH shown "${ROOT}" "${file}")
                    message(FATAL_ERROR "${shown} includes ${header}: ${NAME} may not use ${folder}/ (docs/ARCHITECTURE.md)")
                endif()
                break()
            endif()
        endforeach()
    endforeach()
endforeach()
