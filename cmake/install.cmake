# Installation, and the Debian package: `script/build jar && script/build && cpack --config build/default/CPackConfig.cmake`.
include(GNUInstallDirs)
install(TARGETS plumbd plumb plumb-bridge RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(rocksdb_file)
    install(FILES ${rocksdb_file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/plumbline)
    set_target_properties(plumbd plumb PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/plumbline")
    get_filename_component(rocksdb_folder ${rocksdb_file} DIRECTORY)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${rocksdb_folder})
endif()
install(FILES conf/plumbd.conf conf/plumb-agent.conf DESTINATION /etc/plumbline)
install(FILES conf/plumbd.service conf/plumb-bridge.service DESTINATION lib/systemd/system)
install(FILES conf/plumb.bash-completion DESTINATION share/bash-completion/completions RENAME plumb)
install(FILES conf/analysis.conf conf/core-site.xml.sample conf/hadoop-env.sh.sample conf/hadoop-env-agent.sh.sample
    conf/hadoop-tracing.systemd.sample conf/spark-defaults.conf.sample DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The jars are Maven's; they are installed when they were built, under the names that the samples and documents use.
install(FILES tracer-patches/agent/target/plumb-agent-${PROJECT_VERSION}.jar
    DESTINATION share/plumbline RENAME plumb-agent.jar OPTIONAL)
install(FILES tracer-patches/span-receiver/target/plumb-span-receiver-${PROJECT_VERSION}.jar
    DESTINATION share/plumbline RENAME plumb-span-receiver.jar OPTIONAL)
install(FILES tracer-patches/spark-plugin/target/plumb-spark-plugin-${PROJECT_VERSION}.jar
    DESTINATION share/plumbline RENAME plumb-spark-plugin.jar OPTIONAL)
install(FILES tracer-patches/byteman/spark-operations.btm DESTINATION share/plumbline)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_CONTACT "Plumbline maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tracing backend for HDFS: compressed call trees with exact statistics")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What it needs at run time follows from what it is linked with; what it needs to be built is script/packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_STRIP_FILES ON)
# dpkg keeps what the administrator changed in it.
file(WRITE ${PROJECT_BINARY_DIR}/debian/conffiles "/etc/plumbline/plumbd.conf\n/etc/plumbline/plumb-agent.conf\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/conffiles)
include(CPack)
