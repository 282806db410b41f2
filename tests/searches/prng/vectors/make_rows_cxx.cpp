// c++ -o made make_rows_cxx.cpp && ./made > rows_cxx.jsonl: std::shuffle with mt19937.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#ifdef _LIBCPP_VERSION
const char *family = "libcxx_rows";
#else
const char *family = "cxx_rows";
#endif

int main() {
    for (unsigned seed : {0u, 1234u, 20240229u, 4294967295u})
        for (int count : {52, 49, 16}) {
            std::mt19937 twister(seed);
            std::printf("{\"family\": \"%s\", \"output\": \"shuffle\", \"modulus\": %d, \"seed\": %u, \"first\": [",
                        family, count, seed);
            for (int r = 0; r < 3; r++) {
                std::vector<int> row(count);
                std::iota(row.begin(), row.end(), 0);
                std::shuffle(row.begin(), row.end(), twister);
                for (int i = 0; i < count; i++) std::printf("%s%d", r || i ? ", " : "", row[i]);
            }
            std::printf("]}\n");
        }
}
