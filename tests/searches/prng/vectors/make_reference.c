/* Prints vectors of published algorithms that no common runtime offers, written from the papers
   in C and independent of Weft: cc make_reference.c && ./a.out */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

static u64 s[4];
static u32 key[2], counter[4], block[4];
static unsigned used;

static u64 rotl(u64 x, int k) { return (x << k) | (x >> (64 - k)); }

static u64 split(u64 *x) {
    u64 z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void seed_word(u64 seed) { s[0] = seed; }
static void seed_split(u64 seed) { for (int i = 0; i < 4; i++) s[i] = split(&seed); }

static u64 msvc(void) { return ((s[0] = (u32)(s[0] * 214013 + 2531011)) >> 16) & 0x7fff; }
static u64 borland(void) { return ((s[0] = (u32)(s[0] * 22695477 + 1)) >> 16) & 0x7fff; }
static u64 delphi(void) { return s[0] = (u32)(s[0] * 134775813 + 1); }
static u64 unreal(void) { return (s[0] = (u32)(s[0] * 196314165 + 907633515)) >> 9; }
static u64 lcg32(void) { return s[0] = (u32)(s[0] * 1664525 + 1013904223); }

static u64 xorshift32(void) {
    u32 x = (u32)s[0];
    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
    return s[0] = x;
}

static u64 xorshift64(void) {
    u64 x = s[0];
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    return s[0] = x;
}

static u64 xorshift64star(void) {
    u64 x = s[0];
    x ^= x >> 12; x ^= x << 25; x ^= x >> 27;
    s[0] = x;
    return x * 2685821657736338717u;
}

static void seed_128(u64 seed) {
    s[0] = (u32)seed;
    for (int i = 1; i < 4; i++) s[i] = (u32)(s[i - 1] * 1812433253u + 1);
}

static u64 xorshift128(void) {
    u32 t = (u32)s[0] ^ ((u32)s[0] << 11);
    s[0] = s[1]; s[1] = s[2]; s[2] = s[3];
    return s[3] = (u32)s[3] ^ ((u32)s[3] >> 19) ^ t ^ (t >> 8);
}

static void advance_xoshiro(void) {
    u64 t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
}

static u64 xoshiro_pp(void) { u64 r = rotl(s[0] + s[3], 23) + s[0]; advance_xoshiro(); return r; }
static u64 xoshiro_ss(void) { u64 r = rotl(s[1] * 5, 7) * 9; advance_xoshiro(); return r; }

static u64 pcg32(void) {
    u64 old = s[0];
    s[0] = old * 6364136223846793005u + s[1];
    u32 x = (u32)(((old >> 18) ^ old) >> 27), r = (u32)(old >> 59);
    return (x >> r) | (x << ((-r) & 31));
}

static void seed_pcg(u64 seed) {
    s[0] = 0;
    s[1] = 721347520444481703u << 1 | 1;
    pcg32();
    s[0] += seed;
    pcg32();
}

static void seed_philox(u64 seed) {
    key[0] = (u32)seed;
    key[1] = (u32)(seed >> 32);
    memset(counter, 0, sizeof counter);
    used = 4;
}

static void philox_block(void) {
    u32 c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        u64 p = (u64)0xD2511F53u * c[0], q = (u64)0xCD9E8D57u * c[2];
        u32 next[4] = {(u32)(q >> 32) ^ c[1] ^ k0, (u32)q, (u32)(p >> 32) ^ c[3] ^ k1, (u32)p};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(block, c, sizeof c);
    for (int i = 0; i < 4 && ++counter[i] == 0; i++) {}
}

static u64 philox(void) {
    if (used == 4) { philox_block(); used = 0; }
    return block[used++];
}

static u64 sfc64(void) {
    u64 r = s[0] + s[1] + s[3]++;
    s[0] = s[1] ^ (s[1] >> 11);
    s[1] = s[2] + (s[2] << 3);
    s[2] = rotl(s[2], 24) + r;
    return r;
}

static void seed_sfc(u64 seed) {
    s[0] = s[1] = s[2] = seed;
    s[3] = 1;
    for (int i = 0; i < 12; i++) sfc64();
}

static const u64 seeds[] = {1, 42, 0xffffffffu, 0x123456789abcdefu};
static const u64 moduli[] = {7, 1000, 1024, 1610612736};

static u64 draw(u64 (*call)(void), const char *output, int bits, u64 m) {
    u64 word = call();
    switch (*output) {
    case 'm': return word % m;
    case 'h': return (u64)(((unsigned __int128)word * m) >> bits);
    case 's': return (u64)((bits == 64 ? (double)(word >> 11) / 9007199254740992.0
                                       : (double)word / (double)((u64)1 << bits)) * (double)m);
    default: return word;
    }
}

static void line(const char *family, void (*fill)(u64), u64 (*call)(void), const char *output,
                 int bits, u64 seed, u64 m) {
    fill(seed);
    printf("{\"family\": \"%s\", \"output\": \"%s\", \"seed\": %" PRIu64 ", \"modulus\": %" PRIu64
           ", \"first\": [", family, output, seed, m);
    for (int i = 0; i < 1006; i++) {
        u64 value = draw(call, output, bits, m);
        if (i < 6 || i >= 1000) printf("%s%" PRIu64, i % 1000 ? ", " : "", value);
        if (i == 5) printf("], \"later\": [");
    }
    printf("]}\n");
}

static void lines(const char *family, void (*fill)(u64), u64 (*call)(void), int bits, int seed_bits) {
    for (unsigned i = 0; i < 4; i++) {
        u64 seed = seed_bits == 32 ? (u32)seeds[i] : seeds[i];
        line(family, fill, call, "raw", bits, seed, 1000);
        line(family, fill, call, "mod", bits, seed, moduli[i]);
        line(family, fill, call, "high", bits, seed, moduli[i]);
        line(family, fill, call, "scaled", bits, seed, moduli[3 - i]);
    }
}

int main(void) {
    lines("msvc", seed_word, msvc, 15, 32);
    lines("borland", seed_word, borland, 15, 32);
    lines("delphi", seed_word, delphi, 32, 32);
    lines("unreal", seed_word, unreal, 23, 32);
    lines("lcg32", seed_word, lcg32, 32, 32);
    lines("xorshift32", seed_word, xorshift32, 32, 32);
    lines("xorshift64", seed_word, xorshift64, 64, 64);
    lines("xorshift64star", seed_word, xorshift64star, 64, 64);
    lines("xorshift128", seed_128, xorshift128, 32, 32);
    lines("xoshiro256pp", seed_split, xoshiro_pp, 64, 64);
    lines("xoshiro256ss", seed_split, xoshiro_ss, 64, 64);
    lines("pcg32", seed_pcg, pcg32, 32, 64);
    lines("philox4x32", seed_philox, philox, 32, 64);
    lines("sfc64", seed_sfc, sfc64, 64, 64);
    return 0;
}
