# inquest_library(NAME SOURCES... TESTS... LINKS... PRIVATE_LINKS... PCH...)
#
# One call a folder target: a static library inquest_NAME and, from its *_test.cpp files, one unit-test binary NAME_tests
# that links this library and nothing to its right. A forbidden arrow therefore fails to link.
#   LINKS          what the headers show        PRIVATE_LINKS  what only the sources use
#   TEST_LINKS     what only the tests use      PCH            third-party headers worth precompiling
function(inquest_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;LINKS;PRIVATE_LINKS;TEST_LINKS;PCH" ${ARGN})
  add_library(inquest_${name} STATIC ${arg_SOURCES})
  target_link_libraries(inquest_${name} PUBLIC inquest_options ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  if(arg_PCH)
    target_precompile_headers(inquest_${name} PRIVATE ${arg_PCH})
  endif()
  if(arg_TESTS)
    add_executable(${name}_tests ${arg_TESTS})
    target_link_libraries(${name}_tests PRIVATE inquest_${name} ${arg_TEST_LINKS} inquest_test_main)
    target_precompile_headers(${name}_tests REUSE_FROM inquest_test_main)
    gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." PROPERTIES LABELS "unit" TIMEOUT 120
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
