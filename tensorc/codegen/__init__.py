"""NestProgram to one C++ translation unit: C AST (`c_ast`), printer (`print_c`), emission (`emit`)."""
