# Installation, and the Debian package: `cpack --config build/default/CPackConfig.cmake -G DEB`.
include(GNUInstallDirs)
install(TARGETS plumbd plumb RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES conf/plumbd.conf DESTINATION /etc/plumbline)
install(FILES conf/plumbd.service DESTINATION lib/systemd/system)
install(FILES conf/plumb.bash-completion DESTINATION share/bash-completion/completions RENAME plumb)
install(FILES conf/analysis.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The jar is Maven's; it is installed when it was built.
file(GLOB receiver_jars CONFIGURE_DEPENDS tracer-patches/span-receiver/target/plumb-span-receiver-*.jar)
install(FILES ${receiver_jars} DESTINATION share/plumbline)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_CONTACT "Plumbline maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tracing backend for HDFS: compressed call trees with exact statistics")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What it needs at run time follows from what it is linked with; what it needs to be built is script/packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONFFILES /etc/plumbline/plumbd.conf)
include(CPack)
