# inquest_library(NAME SOURCES... TESTS... LINKS... PRIVATE_LINKS... TEST_LINKS... PCH... [THREADS] [LABELS...])
#
# One call a folder target: a static library inquest_NAME and, from its *_test.cpp files, one unit-test binary NAME_tests
# that links this library and nothing to its right. A forbidden arrow therefore fails to link.
#   LINKS          what the headers show        PRIVATE_LINKS  what only the sources use
#   TEST_LINKS     what only the tests use      PCH            third-party headers worth precompiling
#   THREADS        its tests start threads: CI runs them under ThreadSanitizer too
#   LABELS         of its tests; default unit
function(inquest_library name)
  cmake_parse_arguments(arg "THREADS" "" "SOURCES;TESTS;LINKS;PRIVATE_LINKS;TEST_LINKS;PCH;LABELS" ${ARGN})
  add_library(inquest_${name} STATIC ${arg_SOURCES})
  target_link_libraries(inquest_${name} PUBLIC inquest_options ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  if(arg_PCH)
    target_precompile_headers(inquest_${name} PRIVATE ${arg_PCH})
  endif()
  if(arg_TESTS)
    add_executable(${name}_tests ${arg_TESTS})
    target_link_libraries(${name}_tests PRIVATE inquest_${name} ${arg_TEST_LINKS} inquest_test_main)
    target_precompile_headers(${name}_tests REUSE_FROM inquest_test_main)
    if(arg_THREADS)
      list(APPEND arg_LABELS unit threads)
      set_property(GLOBAL APPEND PROPERTY INQUEST_THREADED_TESTS ${name}_tests)
    endif()
    inquest_suites(${name}_tests PREFIX ${name} LABELS ${arg_LABELS})
  endif()
endfunction()

# inquest_suites(TARGET PREFIX p [LABELS...] [TIMEOUT seconds])
#
# Every suite of a GoogleTest binary becomes one test of ctest, named p.Suite: few processes (a sanitizer makes each
# expensive), yet they run in parallel and a failure names its suite. The suites are asked from the binary when ctest
# starts (cmake/Suites.cmake), which costs the build nothing and cannot go stale. A suite named *Slow gets the label
# slow, one named *Real the label real. Tests run in the source folder.
function(inquest_suites target)
  cmake_parse_arguments(arg "" "PREFIX;TIMEOUT" "LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${script} CONTENT
"set(binary [==[$<TARGET_FILE:${target}>]==])
set(prefix [==[${arg_PREFIX}]==])
set(labels [==[${arg_LABELS}]==])
set(timeout ${arg_TIMEOUT})
set(folder [==[${PROJECT_SOURCE_DIR}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/Suites.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# Called last: tells CI which test binaries have threads, one a line.
function(inquest_write_threaded_tests)
  get_property(targets GLOBAL PROPERTY INQUEST_THREADED_TESTS)
  list(JOIN targets "\n" lines)
  file(WRITE ${PROJECT_BINARY_DIR}/threaded-tests.txt "${lines}\n")
endfunction()
