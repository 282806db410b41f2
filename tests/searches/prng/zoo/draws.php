<?php
// php draws.php CALL SEED COUNT MODULUS: one draw in a line
[, $call, $seed, $count, $m] = $argv;
mt_srand((int) $seed, str_starts_with($call, "legacy") ? MT_RAND_PHP : MT_RAND_MT19937);
$draw = match ($call) {
    "mt_rand(a,b)", "legacy mt_rand(a,b)" => fn() => mt_rand(0, $m - 1),
    "rand(a,b)" => fn() => rand(0, $m - 1),
    "mt_rand()%m", "legacy mt_rand()%m" => fn() => mt_rand() % $m,
    "rand()%m" => fn() => rand() % $m,
    "shuffle", "legacy shuffle" => function () use ($m) {
        $row = range(0, $m - 1);
        shuffle($row);
        return $row;
    },
    "str_shuffle" => fn() => array_map("ord", str_split(str_shuffle(implode("", array_map("chr", range(0, $m - 1)))))),
    "array_rand 6" => fn() => array_rand(range(0, $m - 1), 6),
};
for ($i = 0; $i < $count;) {
    $row = (array) $draw();
    $i += count($row);
    echo implode("\n", $row), "\n";
}
