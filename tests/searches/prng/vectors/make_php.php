<?php
// Prints vectors of mt_rand and rand, in both modes that PHP still has: php make_php.php
const SEEDS = [0, 42, 4294967295, 1234567890];
const MODULI = [7, 1000, 1024, 1610612736];

function line(string $family, int $mode, string $output, int $seed, int $modulus, callable $call): void {
    mt_srand($seed, $mode);
    $values = [];
    for ($i = 0; $i < 1006; $i++) {
        $values[] = $call();
    }
    $first = implode(", ", array_slice($values, 0, 6));
    $later = implode(", ", array_slice($values, 1000));
    echo "{\"family\": \"$family\", \"output\": \"$output\", \"seed\": $seed, \"modulus\": $modulus,",
        " \"first\": [$first], \"later\": [$later]}\n";
}

foreach (SEEDS as $seed) {
    foreach (MODULI as $m) {
        line("php_mt", MT_RAND_MT19937, "bounded", $seed, $m, fn() => mt_rand(0, $m - 1));
        line("php_rand", MT_RAND_MT19937, "bounded", $seed, $m, fn() => rand(0, $m - 1));
        line("php_mt", MT_RAND_MT19937, "mod", $seed, $m, fn() => mt_rand() % $m);
        line("php_rand", MT_RAND_MT19937, "mod", $seed, $m, fn() => rand() % $m);
        line("php_mt", MT_RAND_MT19937, "scaled", $seed, $m,
            fn() => (int) (mt_rand() / (mt_getrandmax() + 1) * $m));
        line("php_mt_legacy", MT_RAND_PHP, "bounded", $seed, $m, fn() => mt_rand(0, $m - 1));
        line("php_mt_legacy", MT_RAND_PHP, "mod", $seed, $m, fn() => mt_rand() % $m);
    }
    line("php_mt", MT_RAND_MT19937, "raw", $seed, 1000, fn() => mt_rand(0, 4294967295));
}
