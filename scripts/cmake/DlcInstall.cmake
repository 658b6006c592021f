# What `cmake --install` puts where: tools, runtime, headers, and the package
# that find_package(dlc) finds. The host engine (runtime/host) installs itself
# beside the runtime, which opens it when it is asked for.
include(CMakePackageConfigHelpers)

set(dlc_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dlc)
set(dlc_exported "")
foreach(tool dlc dlc-opt dlc-run dlc-inspect)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    list(APPEND dlc_exported ${tool})
  endif()
endforeach()
if(TARGET dlc_runtime)
  set_target_properties(dlc_runtime PROPERTIES EXPORT_NAME runtime
                                               INSTALL_RPATH "$ORIGIN")
  target_include_directories(dlc_runtime INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(APPEND dlc_exported dlc_runtime)
endif()

if(NOT dlc_exported)
  return()
endif()
install(TARGETS ${dlc_exported} EXPORT dlcTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT dlcTargets NAMESPACE dlc:: DESTINATION ${dlc_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/dlc
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/dlcConfig.cmake.in
  ${PROJECT_BINARY_DIR}/dlcConfig.cmake INSTALL_DESTINATION ${dlc_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dlcConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dlcConfig.cmake
              ${PROJECT_BINARY_DIR}/dlcConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/DlcAddModel.cmake
        DESTINATION ${dlc_package_dir})
