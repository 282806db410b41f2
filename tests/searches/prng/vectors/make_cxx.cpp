// Prints vectors of the engines of C++: c++ make_cxx.cpp && ./a.out
#include <cstdint>
#include <functional>
#include <iostream>
#include <random>
#include <string>

static const std::uint32_t seeds[] = {0, 1, 42, 4294967295u};
static const std::uint32_t moduli[] = {7, 1000, 1024, 1610612736u};

static void line(const std::string &family, const std::string &output, std::uint32_t seed,
                 std::uint64_t modulus, const std::function<std::uint64_t()> &call) {
    std::cout << "{\"family\": \"" << family << "\", \"output\": \"" << output << "\", \"seed\": "
              << seed << ", \"modulus\": " << modulus << ", \"first\": [";
    for (int i = 0; i < 1006; i++) {
        std::uint64_t value = call();
        if (i < 6 || i >= 1000) std::cout << (i % 1000 ? ", " : "") << value;
        if (i == 5) std::cout << "], \"later\": [";
    }
    std::cout << "]}\n";
}

template <class Engine> static void plain(const std::string &family, std::uint32_t seed, int bits) {
    Engine engine(seed);
    line(family, "raw", seed, 1000, [&] { return engine(); });
    for (std::uint64_t m : moduli) {
        engine.seed(seed);
        line(family, "mod", seed, m, [&] { return engine() % m; });
        engine.seed(seed);
        line(family, "high", seed, m, [&] { return (std::uint64_t(engine()) * m) >> bits; });
    }
}

int main() {
    for (std::uint32_t seed : seeds) {
        plain<std::mt19937>("mt19937", seed, 32);
        plain<std::minstd_rand>("minstd", seed, 31);
        plain<std::minstd_rand0>("minstd0", seed, 31);
        for (std::uint32_t m : moduli) {
            std::mt19937 engine(seed);
            std::uniform_int_distribution<std::uint32_t> bounded(0, m - 1);
            line("mt19937", "bounded", seed, m, [&] { return bounded(engine); });
            std::minstd_rand small(seed);
            line("minstd", "bounded", seed, m, [&] { return bounded(small); });
            std::default_random_engine usual(seed);
            line("minstd0", "bounded", seed, m, [&] { return bounded(usual); });
        }
    }
}
