# Installation, and the Debian packages: `script/build jar && script/build && cpack --config build/default/CPackConfig.cmake`.
#   plumb            the command line, its documents, and the library that it shares with plumbd (RocksDB)
#   plumbd           the daemon; needs plumb of the same version
#   plumb-bridge     Spark's event logs
#   plumbline-agent  the jars, for the hosts of HDFS and Spark: no program, so for all architectures
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/plumbline)
set(packages plumb plumbd plumb-bridge plumbline-agent)

install(TARGETS plumb RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT plumb)
install(TARGETS plumbd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT plumbd)
install(TARGETS plumb-bridge RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT plumb-bridge)
if(rocksdb_file)
    install(FILES ${rocksdb_file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/plumbline COMPONENT plumb)
    set_target_properties(plumbd plumb PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/plumbline")
    get_filename_component(rocksdb_folder ${rocksdb_file} DIRECTORY)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${rocksdb_folder})
endif()

install(FILES conf/plumbd.conf DESTINATION /etc/plumbline COMPONENT plumbd)
install(FILES conf/plumbd.logrotate DESTINATION /etc/logrotate.d RENAME plumbd COMPONENT plumbd)
install(FILES conf/plumb-agent.conf DESTINATION /etc/plumbline COMPONENT plumbline-agent)
install(FILES conf/plumbd.service DESTINATION lib/systemd/system COMPONENT plumbd)
install(FILES conf/plumb-bridge.service DESTINATION lib/systemd/system COMPONENT plumb-bridge)
install(FILES conf/plumb.bash-completion
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME plumb COMPONENT plumb)
install(FILES conf/_plumb DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT plumb)
install(FILES conf/plumb.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT plumb)

install(FILES README.md DESTINATION ${documents} COMPONENT plumb)
install(DIRECTORY docs/ DESTINATION ${documents} COMPONENT plumb)
install(FILES conf/analysis.conf conf/prometheus-rules.yml conf/grafana-cluster.json
    conf/grafana-datanode.json conf/grafana-plumbd.json DESTINATION ${documents}/examples
    COMPONENT plumb)
install(FILES conf/core-site.xml.sample conf/hadoop-env.sh.sample conf/hadoop-env-agent.sh.sample
    conf/hadoop-tracing.systemd.sample conf/spark-defaults.conf.sample
    DESTINATION ${documents}/examples COMPONENT plumbline-agent)
foreach(package IN LISTS packages)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright COMPONENT ${package})
endforeach()

# The jars are Maven's; they are installed when they were built, under the names that the samples and documents use.
foreach(jar agent/target/plumb-agent span-receiver/target/plumb-span-receiver spark-plugin/target/plumb-spark-plugin
    load/target/plumb-load)
    get_filename_component(name ${jar} NAME)
    install(FILES tracer-patches/${jar}-${PROJECT_VERSION}.jar
        DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline RENAME ${name}.jar COMPONENT plumbline-agent OPTIONAL)
endforeach()
install(FILES tracer-patches/byteman/spark-operations.btm conf/plumb-load-functions.conf
    DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline COMPONENT plumbline-agent)

# Man pages are made of what the built programs print, when they are installed: an ordinary build need not wait for them.
set(man_pages ${PROJECT_BINARY_DIR}/man)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} -m script.man_pages ${PROJECT_BINARY_DIR} ${man_pages}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT plumb)
install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT plumb)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_CONTACT "Plumbline maintainers")
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What it needs at run time follows from what it is linked with; what it needs to be built is script/packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_STRIP_FILES ON)

set(summary_plumb "Tracing backend for HDFS and Spark: the command line")
set(summary_plumbd "Tracing backend for HDFS and Spark: the daemon that takes in and stores spans")
set(summary_plumb-bridge "Tracing backend for HDFS and Spark: sends Spark's event logs to plumbd")
set(summary_plumbline-agent "Tracing backend for HDFS and Spark: the agent for Java processes")
foreach(package IN LISTS packages)
    string(TOUPPER ${package} upper)
    string(TOUPPER CPACK_COMPONENT_${package}_DESCRIPTION description)
    set(${description} "${summary_${package}}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
    # The one package of before had the files of all of these.
    set(CPACK_DEBIAN_${upper}_PACKAGE_REPLACES plumbline)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONFLICTS plumbline)
    # conffiles: dpkg keeps what the administrator changed; the scripts start and stop what systemd runs.
    file(GLOB control ${PROJECT_SOURCE_DIR}/cmake/debian/${package}/*)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${control})
endforeach()
set(CPACK_DEBIAN_PLUMBD_PACKAGE_DEPENDS "plumb (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PLUMBD_PACKAGE_SUGGESTS "plumb-bridge, plumbline-agent")
set(CPACK_DEBIAN_PLUMBLINE-AGENT_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PLUMBLINE-AGENT_PACKAGE_SHLIBDEPS OFF)

# The agent is an .rpm as well (cpack -G RPM): its jars run on any Linux. The programs are none: docs/operate.md says why.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/pack.cmake)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_COMPRESSION_TYPE gzip) # which the rpm of every distribution reads
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PLUMBLINE-AGENT_PACKAGE_NAME plumbline-agent)
set(CPACK_RPM_PLUMBLINE-AGENT_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_PLUMBLINE-AGENT_PACKAGE_AUTOREQPROV no)
set(CPACK_RPM_PLUMBLINE-AGENT_USER_FILELIST "%config(noreplace) /etc/plumbline/plumb-agent.conf")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc)
include(CPack)
