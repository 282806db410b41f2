// clang++ -stdlib=libc++ -o made make_rows_libcxx.cpp && ./made > rows_libcxx.jsonl
#include "make_rows_cxx.cpp"
