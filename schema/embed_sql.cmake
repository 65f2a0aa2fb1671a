# cmake -DINPUT=trace.sql -DOUTPUT=trace_sql.cpp -P embed_sql.cmake: the file as a C++ string, so that it is the schema.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT}
  "namespace inquest::trace {\nextern const char* const kTraceSql;\nconst char* const kTraceSql = R\"sql(${text})sql\";\n}\n")
