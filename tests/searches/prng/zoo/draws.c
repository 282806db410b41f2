/* cc draws.c, or musl-gcc; then a.out CALL SEED COUNT MODULUS: one draw in a line */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **args) {
    unsigned seed = strtoul(args[2], 0, 10), state = seed;
    long m = strtol(args[4], 0, 10);
    srand(seed);
    srandom(seed);
    srand48(seed);
#ifdef __GLIBC__
    static char kinds[256];
    int kind_size = 0;
    if (sscanf(args[1], "initstate %d", &kind_size) == 1) initstate(seed, kinds, kind_size);
#endif
    for (int i = 0; i < atoi(args[3]); i++) {
        long draw = -1;
        if (!strcmp(args[1], "rand()%m")) draw = rand() % m;
        if (!strcmp(args[1], "random()%m") || !strncmp(args[1], "initstate", 9)) draw = random() % m;
        if (!strcmp(args[1], "rand()*m")) draw = rand() / (RAND_MAX + 1.0) * m;
        if (!strcmp(args[1], "rand_r()%m")) draw = rand_r(&state) % m;
        if (!strcmp(args[1], "drand48()*m")) draw = drand48() * m;
        if (!strcmp(args[1], "lrand48()%m")) draw = lrand48() % m;
        printf("%ld\n", draw);
    }
    return argc != 5;
}
