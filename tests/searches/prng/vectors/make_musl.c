/* Prints vectors of rand() of musl: musl-gcc -O1 make_musl.c && ./a.out */
#include <stdio.h>
#include <stdlib.h>

static const unsigned seeds[] = {0, 1, 42, 4294967295u, 1234567890u};
static const unsigned moduli[] = {7, 1000, 1024, 1610612736u};

static unsigned remainder_of(unsigned m) { return (unsigned) rand() % m; }
static unsigned scaled(unsigned m) { return (unsigned) (rand() / (RAND_MAX + 1.0) * m); }

static void line(const char *output, unsigned seed, unsigned m, unsigned (*call)(unsigned)) {
    srand(seed);
    printf("{\"family\": \"musl\", \"output\": \"%s\", \"seed\": %u, \"modulus\": %u, \"first\": [", output, seed, m);
    for (int i = 0; i < 1006; i++) {
        unsigned value = call(m);
        if (i < 6 || i >= 1000) printf("%s%u", i % 1000 ? ", " : "", value);
        if (i == 5) printf("], \"later\": [");
    }
    printf("]}\n");
}

int main(void) {
    for (unsigned s = 0; s < 5; s++)
        for (unsigned m = 0; m < 4; m++) {
            line("mod", seeds[s], moduli[m], remainder_of);
            line("scaled", seeds[s], moduli[m], scaled);
        }
}
