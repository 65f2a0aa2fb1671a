# What `cmake --install` puts where, and the Debian package that `cpack` makes of it. Neither builds anything: build first.
include(GNUInstallDirs)

install(TARGETS inquest RUNTIME)
# kubectl runs kubectl-NAME for `kubectl NAME` and hands it the arguments unchanged; the program tells its name in its help.
install(CODE "file(CREATE_LINK inquest \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/kubectl-inquest\" SYMBOLIC)")
install(FILES ${PROJECT_BINARY_DIR}/completion/inquest DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completion/inquest.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(PROGRAMS ${PROJECT_BINARY_DIR}/completion/kubectl_complete-inquest TYPE BIN)  # kubectl 1.26 and later runs it
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md")
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY traces/scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/inquest)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME inquest)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "inquest developers <inquest@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "records Kubernetes watches, replays them into a scheduler, shows the zombies")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)

# Sanitizers' programs are not shipped.
if(NOT INQUEST_SANITIZE)
  add_test(NAME e2e.Package COMMAND ${PROJECT_SOURCE_DIR}/cmake/package-test ${PROJECT_BINARY_DIR} ${PROJECT_VERSION})
  set_tests_properties(e2e.Package PROPERTIES LABELS e2e TIMEOUT 120 SKIP_RETURN_CODE 77)
endif()
