// Prints vectors of uniform_int_distribution of libc++: clang++ -stdlib=libc++ make_libcxx.cpp && ./a.out
#include <cstdint>
#include <iostream>
#include <random>

int main() {
    for (std::uint32_t seed : {0u, 1u, 42u, 4294967295u})
        for (std::uint32_t m : {7u, 1000u, 1024u, 1610612736u}) {
            std::mt19937 engine(seed);
            std::uniform_int_distribution<std::uint32_t> bounded(0, m - 1);
            std::cout << "{\"family\": \"mt19937\", \"output\": \"masked\", \"seed\": " << seed
                      << ", \"modulus\": " << m << ", \"first\": [";
            for (int i = 0; i < 1006; i++) {
                std::uint32_t value = bounded(engine);
                if (i < 6 || i >= 1000) std::cout << (i % 1000 ? ", " : "") << value;
                if (i == 5) std::cout << "], \"later\": [";
            }
            std::cout << "]}\n";
        }
}
