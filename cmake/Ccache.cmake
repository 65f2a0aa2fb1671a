# Compile through ccache where it is installed, so that it hits with precompiled headers, and from any clone.
#
#   base_dir, no hash_dir   a clone elsewhere finds what this one compiled
#   sloppiness              without it ccache refuses precompiled headers; a changed header still counts by its content
#   CCACHE_DIR              outside the clone: taken from the environment, else ~/.cache/inquest-ccache
# The compilers need a flag each: gcc must name the PCH in its preprocessed output, clang must not put times into it.
option(INQUEST_CCACHE "compile through ccache where it is installed" ON)
find_program(INQUEST_CCACHE_PROGRAM ccache)

if(INQUEST_CCACHE AND INQUEST_CCACHE_PROGRAM
   AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "(^|/)ccache$"))
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(NOT DEFINED ENV{CCACHE_DIR} AND DEFINED ENV{HOME})
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER CCACHE_DIR=$ENV{HOME}/.cache/inquest-ccache)
  endif()
  list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${INQUEST_CCACHE_PROGRAM})
endif()

target_compile_options(inquest_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
