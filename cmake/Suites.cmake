# Included by ctest for each test binary (inquest_suites in Inquest.cmake): adds one test a suite.
# In: binary, prefix, labels, timeout (seconds), folder.
set(listed 1)
if(EXISTS "${binary}")
  execute_process(COMMAND "${binary}" --gtest_list_tests WORKING_DIRECTORY "${folder}" TIMEOUT 60
                  OUTPUT_VARIABLE output RESULT_VARIABLE listed)
endif()

if(NOT listed EQUAL 0)
  # Fails when it is run: a binary that is missing or broken must not look like one without tests.
  add_test("${prefix}.NOT_BUILT" "${binary}")
  set_tests_properties("${prefix}.NOT_BUILT" PROPERTIES LABELS "${labels}")
else()
  string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${output}")  # the tests themselves are indented
  foreach(suite IN LISTS suites)
    string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
    set(suite_labels ${labels})
    set(suite_timeout ${timeout})
    if(suite MATCHES "Slow(/|$)")
      list(APPEND suite_labels slow)
      set(suite_timeout 1800)
    elseif(suite MATCHES "Real(/|$)")
      list(APPEND suite_labels real)
    endif()
    add_test("${prefix}.${suite}" "${binary}" "--gtest_filter=${suite}.*" --gtest_brief=1)
    set_tests_properties("${prefix}.${suite}" PROPERTIES
      LABELS "${suite_labels}" TIMEOUT ${suite_timeout} WORKING_DIRECTORY "${folder}")
  endforeach()
endif()
