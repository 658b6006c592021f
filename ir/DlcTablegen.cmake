# Rules that the compiler's libraries share.

# Compiler code uses neither exceptions nor RTTI; RTTI stays on where LLVM has
# it, since a mix fails to link.
function(dlc_compiler_options target)
  target_compile_options(${target} PRIVATE -fno-exceptions)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
endfunction()

# Runs dlc-tblgen on ir/Ops.td; again when a file that it includes changes.
function(dlc_tablegen output)
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${output}
    COMMAND dlc-tblgen ${ARGN} -I ${PROJECT_SOURCE_DIR}/ir
            ${PROJECT_SOURCE_DIR}/ir/Ops.td -o ${output} -d ${output}.d
            --write-if-changed
    DEPFILE ${output}.d
    DEPENDS dlc-tblgen ${PROJECT_SOURCE_DIR}/ir/Ops.td
    VERBATIM)
endfunction()
