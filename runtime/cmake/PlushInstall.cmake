# Install rules. `cmake --install BUILD --component runtime` installs what a game links to and
# nothing else; `--component tools` adds the converter.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plush)

install(TARGETS plush_runtime EXPORT plushRuntimeTargets
  ARCHIVE COMPONENT runtime
  FILE_SET HEADERS COMPONENT runtime)
install(EXPORT plushRuntimeTargets NAMESPACE plush:: DESTINATION ${package_dir} COMPONENT runtime)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/plushConfig.cmake.in plushConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# While the version is 0.N, each N has its own file format and interface.
write_basic_package_version_file(plushConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/plushConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/plushConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/PlushAddAsset.cmake
  DESTINATION ${package_dir} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

if(PLUSH_BUILD_TOOLS)
  # The importer runs as a process of its own; plush looks for it beside itself.
  install(TARGETS plush EXPORT plushToolsTargets RUNTIME COMPONENT tools)
  install(TARGETS plush_import RUNTIME COMPONENT tools)
  install(EXPORT plushToolsTargets NAMESPACE plush:: DESTINATION ${package_dir} COMPONENT tools)
endif()
