// c++ draws.cpp, or clang++ -stdlib=libc++; then a.out CALL SEED COUNT MODULUS: one draw in a line
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

int main(int, char **args) {
    std::uint32_t seed = std::stoul(args[2]);
    std::uint64_t m = std::stoull(args[4]);
    std::mt19937 twister(seed);
    std::mt19937_64 wide(seed);
    std::minstd_rand minstd(seed);
    std::minstd_rand0 minstd0(seed);
    std::uniform_int_distribution<int> bounded(0, int(m - 1));
    std::map<std::string, std::function<std::uint64_t()>> draws = {
        {"mt19937", [&] { return twister(); }},
        {"mt19937%m", [&] { return twister() % m; }},
        {"uniform mt19937", [&] { return bounded(twister); }},
        {"mt19937_64%m", [&] { return wide() % m; }},
        {"uniform mt19937_64", [&] { return bounded(wide); }},
        {"minstd%m", [&] { return minstd() % m; }},
        {"uniform minstd", [&] { return bounded(minstd); }},
        {"uniform minstd0", [&] { return bounded(minstd0); }},
    };
    if (std::string(args[1]) == "shuffle") {
        for (unsigned made = 0; made < std::stoul(args[3]); made += m) {
            std::vector<int> row(m);
            std::iota(row.begin(), row.end(), 0);
            std::shuffle(row.begin(), row.end(), twister);
            for (int value : row) std::cout << value << "\n";
        }
        return 0;
    }
    for (int i = 0; i < std::stoi(args[3]); i++) std::cout << draws.at(args[1])() << "\n";
}
