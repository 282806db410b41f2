/* Prints vectors of rand, rand_r and drand48 of the C library: cc make_glibc.c && ./a.out */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t seeds[] = {0, 1, 42, 4294967295u, 2147483648u, 1234567890u};
static const uint32_t moduli[] = {7, 100, 1024, 1610612736u};
static unsigned reentrant;

static uint64_t c_rand(void) { return (uint64_t)rand(); }
static uint64_t c_rand_r(void) { return (uint64_t)rand_r(&reentrant); }
static uint64_t c_lrand48(void) { return (uint64_t)lrand48(); }
static uint64_t c_mrand48(void) { return (uint32_t)mrand48(); }

static uint64_t draw(uint64_t (*call)(void), char map, int bits, uint64_t modulus) {
    if (map == 'd') return (uint64_t)(drand48() * (double)modulus);
    uint64_t word = call();
    switch (map) {
    case 'm': return word % modulus;
    case 'h': return (word * modulus) >> bits;
    case 's': return (uint64_t)((double)modulus * ((double)word / (RAND_MAX + 1.0)));
    default: return word;
    }
}

static void line(const char *family, const char *output, uint64_t (*call)(void), char map, int bits,
                 uint32_t seed, uint32_t modulus) {
    srand(seed);
    srand48((long)seed);
    reentrant = seed;
    printf("{\"family\": \"%s\", \"output\": \"%s\", \"seed\": %" PRIu32 ", \"modulus\": %" PRIu32
           ", \"first\": [", family, output, seed, modulus);
    for (int i = 0; i < 1006; i++) {
        uint64_t value = draw(call, map, bits, modulus);
        if (i < 6 || i >= 1000) printf("%s%" PRIu64, i % 1000 ? ", " : "", value);
        if (i == 5) printf("], \"later\": [");
    }
    printf("]}\n");
}

int main(void) {
    for (unsigned s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        line("glibc", "raw", c_rand, 'r', 31, seeds[s], 1000);
        line("glibc_rand_r", "raw", c_rand_r, 'r', 31, seeds[s], 1000);
        line("drand48", "raw", c_mrand48, 'r', 32, seeds[s], 1000);
        for (unsigned m = 0; m < sizeof moduli / sizeof *moduli; m++) {
            line("glibc", "mod", c_rand, 'm', 31, seeds[s], moduli[m]);
            line("glibc", "high", c_rand, 'h', 31, seeds[s], moduli[m]);
            line("glibc", "scaled", c_rand, 's', 31, seeds[s], moduli[m]);
            line("glibc_rand_r", "mod", c_rand_r, 'm', 31, seeds[s], moduli[m]);
            line("glibc_rand_r", "scaled", c_rand_r, 's', 31, seeds[s], moduli[m]);
            line("drand48", "mod", c_lrand48, 'm', 31, seeds[s], moduli[m]);
            line("drand48", "scaled", c_lrand48, 'd', 48, seeds[s], moduli[m]);
        }
    }
    return 0;
}
