# Install and export: find_package(Krait) gives one Krait::<layer> target a layer.
include(CMakePackageConfigHelpers)
get_property(layers GLOBAL PROPERTY KRAIT_LAYERS)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Krait)
foreach(layer ${layers})
  install(TARGETS krait_${layer} EXPORT KraitTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(TARGETS krait RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT KraitTargets NAMESPACE Krait:: DESTINATION ${config_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/KraitConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/KraitConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/KraitConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/KraitConfig.cmake ${CMAKE_BINARY_DIR}/KraitConfigVersion.cmake
        DESTINATION ${config_dir})
