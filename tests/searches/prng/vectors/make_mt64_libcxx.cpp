// clang++ -stdlib=libc++ -o made make_mt64_libcxx.cpp && ./made > mt64_libcxx.jsonl
#include "make_mt64.cpp"
