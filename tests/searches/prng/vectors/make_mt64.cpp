// c++ -o made make_mt64.cpp && ./made > mt64.jsonl: std::mt19937_64 and its distribution.
// With clang++ -stdlib=libc++ it prints the distribution of libc++: mt64_libcxx.jsonl.
#include <cstdio>
#include <random>

#ifdef _LIBCPP_VERSION
static const char *bounded = "masked";
#else
static const char *bounded = "bounded";
#endif

template <class Draw> void line(const char *output, unsigned long long modulus, unsigned long long seed, Draw draw) {
    std::printf("{\"family\": \"mt19937_64\", \"output\": \"%s\", \"modulus\": %llu, \"seed\": %llu, \"first\": [", output, modulus, seed);
    for (int i = 0; i < 1008; i++) {
        unsigned long long value = draw();
        if (i < 40) std::printf("%s%llu", i ? ", " : "", value);
        if (i == 999) std::printf("], \"later\": [");
        if (i >= 1000) std::printf("%s%llu", i > 1000 ? ", " : "", value);
    }
    std::printf("]}\n");
}

int main() {
    for (unsigned long long seed : {0ull, 5489ull, 20240229ull, 4294967295ull, 18446744073709551615ull}) {
        std::mt19937_64 raw(seed), rest(seed);
        line("raw", 1000, seed, [&] { return raw(); });
        line("mod", 1000, seed, [&] { return rest() % 1000; });
        for (int modulus : {6, 49, 1000, 1024, 2147483647}) {
            std::mt19937_64 engine(seed);
            std::uniform_int_distribution<int> draw(0, modulus - 1);
            line(bounded, modulus, seed, [&] { return (unsigned long long)draw(engine); });
        }
    }
}
