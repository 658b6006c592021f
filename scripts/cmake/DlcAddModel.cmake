# dlc_add_model(NAME MODEL file.onnx
#               [TARGETS sm_90a portable host ...]  default: what dlc chooses
#               [PRECISION fp32|tf32|fp16|bf16]
#               [SHAPES x=1x3x224x224 ...] [BINDS sr=16000 ...]
#               [OPTIONS ...]                       more options of dlc
#               [OUTPUT file.bundle]                default: NAME.bundle
#               [EMBED])
#
# Compiles an ONNX model when the project is built, and again when the model
# changes. Makes the target NAME:
#   without EMBED  a target that stands for the bundle; its path is the target
#                  property DLC_BUNDLE; make others depend on it
#   with EMBED     a library to link that holds the bundle; its header NAME.h
#                  declares NAME_bundle and NAME_bundle_bytes, as
#                  dlc_bundle_open_memory takes them
include_guard(GLOBAL)

function(dlc_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EMBED" "MODEL;PRECISION;OUTPUT"
                        "TARGETS;SHAPES;BINDS;OPTIONS")
  if(NOT ARG_MODEL)
    message(FATAL_ERROR "dlc_add_model(${name}): MODEL is missing, expected the path of an .onnx file")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "dlc_add_model(${name}): unknown '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  get_filename_component(model ${ARG_MODEL} ABSOLUTE)
  # One that another target makes need not be there yet.
  get_source_file_property(generated ${model} GENERATED)
  if(NOT EXISTS ${model} AND NOT generated)
    message(FATAL_ERROR "dlc_add_model(${name}): MODEL ${model} does not exist")
  endif()
  set(bundle ${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle)
  if(ARG_OUTPUT)
    get_filename_component(bundle ${ARG_OUTPUT} ABSOLUTE
                           BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  endif()

  set(options ${ARG_OPTIONS})
  if(ARG_TARGETS)
    list(JOIN ARG_TARGETS "," targets)
    list(APPEND options --target=${targets})
  endif()
  if(ARG_PRECISION)
    list(APPEND options --precision=${ARG_PRECISION})
  endif()
  foreach(shape ${ARG_SHAPES})
    list(APPEND options --shape=${shape})
  endforeach()
  foreach(bind ${ARG_BINDS})
    list(APPEND options --bind=${bind})
  endforeach()

  add_custom_command(
    OUTPUT ${bundle}
    COMMAND dlc::dlc ${model} ${options} -o ${bundle}
    DEPENDS ${model} dlc::dlc
    COMMENT "Compiling ${name} with dlc"
    VERBATIM)

  if(NOT ARG_EMBED)
    add_custom_target(${name} ALL DEPENDS ${bundle})
    set_target_properties(${name} PROPERTIES DLC_BUNDLE ${bundle})
    return()
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.embedded)
  file(CONFIGURE OUTPUT ${folder}/${name}.h @ONLY CONTENT [[
/* A compiled model inside this program, for dlc_bundle_open_memory. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @name@_bundle[];
extern const size_t @name@_bundle_bytes;
#ifdef __cplusplus
}
#endif
]])
  # The assembler includes the file as it is: no array in source form. C or C++,
  # whichever the project has; not by LTO, which sees no symbols in there.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(source ${folder}/${name}.cpp)
  if(C IN_LIST languages)
    set(source ${folder}/${name}.c)
  elseif(NOT CXX IN_LIST languages)
    message(FATAL_ERROR "dlc_add_model(${name}): EMBED needs C or CXX, the project has ${languages}")
  endif()
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "@name@.h"
__asm__(".pushsection .rodata\n"
        ".balign 256\n"
        ".globl @name@_bundle\n"
        "@name@_bundle:\n"
        ".incbin \"@bundle@\"\n"
        "end_of_@name@_bundle:\n"
        ".balign 8\n"
        ".globl @name@_bundle_bytes\n"
        "@name@_bundle_bytes:\n"
        ".quad end_of_@name@_bundle - @name@_bundle\n"
        ".popsection\n");
]])
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${bundle}
                                                   COMPILE_OPTIONS -fno-lto)
  add_library(${name} STATIC ${source} ${bundle})
  target_include_directories(${name} INTERFACE ${folder})
  set_target_properties(${name} PROPERTIES DLC_BUNDLE ${bundle})
endfunction()
