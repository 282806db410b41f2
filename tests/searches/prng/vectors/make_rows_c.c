/* cc -o made make_rows_c.c && ./made > rows_c.jsonl: rand() % n of glibc, again while it was there. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    unsigned seeds[] = {1, 1234, 20240229, 4294967295u};
    int sizes[][2] = {{49, 6}, {50, 5}, {90, 12}};
    for (int s = 0; s < 4; s++) {
        for (int z = 0; z < 3; z++) {
            int n = sizes[z][0], k = sizes[z][1], row[12];
            srand(seeds[s]);
            printf("{\"family\": \"glibc_rows\", \"output\": \"distinct%d\", \"modulus\": %d, \"seed\": %u, \"first\": [", k, n, seeds[s]);
            for (int r = 0; r < 6; r++)
                for (int i = 0; i < k;) {
                    int x = rand() % n, j = 0;
                    while (j < i && row[j] != x) j++;
                    if (j < i) continue;
                    row[i++] = x;
                    printf("%s%d", r || i > 1 ? ", " : "", x);
                }
            printf("]}\n");
        }
        srand(seeds[s]);
        printf("{\"family\": \"glibc_rows\", \"output\": \"shuffle\", \"modulus\": 52, \"seed\": %u, \"first\": [", seeds[s]);
        for (int r = 0; r < 3; r++) {
            int deck[52];
            for (int i = 0; i < 52; i++) deck[i] = i;
            for (int i = 51; i > 0; i--) {
                int j = rand() % (i + 1), t = deck[i];
                deck[i] = deck[j], deck[j] = t;
            }
            for (int i = 0; i < 52; i++) printf("%s%d", r || i ? ", " : "", deck[i]);
        }
        printf("]}\n");
    }
    return 0;
}
