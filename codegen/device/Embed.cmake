# Embeds device headers in a library: dlc::deviceHeaders() of DeviceHeaders.h.
#
#   dlc_embed_device_headers(TARGET [NAME=FILE ...])
#
# takes every .cuh and host/*.h beside this file, the emulator's abi.h, what
# other folders added by
#   set_property(GLOBAL APPEND PROPERTY DLC_DEVICE_HEADERS "scalar.cuh=FILE")
# (FILE may be generated; name its target in the property
# DLC_DEVICE_HEADER_TARGETS), and the pairs given. A header is included as
# "dlc/NAME", one of ir/ as "ir/...", which is its name for the host, too. Also
# links them all into ${CMAKE_BINARY_DIR}/device, an include folder for tests
# and editors.
set(DLC_EMBED_FOLDER ${CMAKE_CURRENT_LIST_DIR})

function(dlc_included_name name result)
  if(NOT name MATCHES "^ir/")
    string(PREPEND name "dlc/")
  endif()
  set(${result} ${name} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DOUTPUT=.. -DPAIRS=name=file|name=file -P Embed.cmake
  string(REPLACE "|" ";" PAIRS "${PAIRS}")
  set(text "// Generated from codegen/device.\n")
  string(APPEND text "#include \"codegen/device/DeviceHeaders.h\"\n"
         "const std::vector<dlc::DeviceHeader> &dlc::deviceHeaders() {\n"
         "  static const std::vector<DeviceHeader> headers = {\n")
  foreach(pair ${PAIRS})
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${pair}")
    set(file ${CMAKE_MATCH_2})
    dlc_included_name(${CMAKE_MATCH_1} name)
    file(READ "${file}" body)
    # A literal has at most 65,536 characters in some compilers.
    string(LENGTH "${body}" size)
    string(APPEND text "      {\"${name}\",\n")
    set(from 0)
    while(from LESS size)
      string(SUBSTRING "${body}" ${from} 15000 part)
      string(APPEND text "R\"__dlc__(${part})__dlc__\"\n")
      math(EXPR from "${from} + 15000")
    endwhile()
    string(APPEND text "},\n")
  endforeach()
  string(APPEND text "  };\n  return headers;\n}\n")
  file(WRITE "${OUTPUT}.new" "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different
                          "${OUTPUT}.new" "${OUTPUT}")
  file(REMOVE "${OUTPUT}.new")
  return()
endif()

function(dlc_embed_device_headers target)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${DLC_EMBED_FOLDER}
       ${DLC_EMBED_FOLDER}/*.cuh ${DLC_EMBED_FOLDER}/host/*.h)
  set(pairs "host/abi.h=${PROJECT_SOURCE_DIR}/runtime/host/abi.h")
  foreach(file ${files})
    list(APPEND pairs "${file}=${DLC_EMBED_FOLDER}/${file}")
  endforeach()
  get_property(added GLOBAL PROPERTY DLC_DEVICE_HEADERS)
  get_property(targets GLOBAL PROPERTY DLC_DEVICE_HEADER_TARGETS)
  list(APPEND pairs ${added} ${ARGN})
  list(SORT pairs)
  set(inputs)
  foreach(pair ${pairs})
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${pair}")
    set(file "${CMAKE_MATCH_2}")
    list(APPEND inputs "${file}")
    dlc_included_name(${CMAKE_MATCH_1} name)
    set(link "${CMAKE_BINARY_DIR}/device/${name}")
    get_filename_component(folder "${link}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${file}" "${link}" SYMBOLIC)
  endforeach()
  string(REPLACE ";" "|" joined "${pairs}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_headers.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DPAIRS=${joined}"
            -P ${DLC_EMBED_FOLDER}/Embed.cmake
    DEPENDS ${inputs} ${targets} ${DLC_EMBED_FOLDER}/Embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()
