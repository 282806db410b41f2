/* cc -o made make_glibc_kinds.c && ./made > glibc_kinds.jsonl: random() after initstate(). */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    unsigned seeds[] = {0, 1, 1234, 20240229, 2147483647u, 2147483648u, 4294967295u};
    int sizes[] = {8, 32, 64, 256}, kinds[] = {0, 1, 2, 4};
    static char state[4][256];
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 7; s++) {
            initstate(seeds[s], state[k], sizes[k]);
            printf("{\"family\": \"glibc_type%d\", \"output\": \"mod\", \"modulus\": 1000, \"seed\": %u, \"first\": [", kinds[k], seeds[s]);
            for (int i = 0; i < 1008; i++) {
                long value = random() % 1000;
                if (i < 40) printf("%s%ld", i ? ", " : "", value);
                if (i == 999) printf("], \"later\": [");
                if (i >= 1000) printf("%s%ld", i > 1000 ? ", " : "", value);
            }
            printf("]}\n");
        }
    return 0;
}
