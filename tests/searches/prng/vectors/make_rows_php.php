<?php
// php make_rows_php.php > rows_php.jsonl: shuffles and array_rand, current and legacy.
function ways($n, $k) { $w = 1; for ($i = 0; $i < $k; $i++) $w = intdiv($w * ($n - $i), $i + 1); return $w; }
function rank($row) { $r = 0; foreach ($row as $i => $x) $r += $x < $i + 1 ? 0 : ways($x, $i + 1); return $r; }
function line($family, $output, $modulus, $seed, $first) {
    echo json_encode(compact("family", "output", "modulus", "seed", "first")), "\n";
}
foreach ([["php_rows", MT_RAND_MT19937], ["php_legacy_rows", MT_RAND_PHP]] as [$family, $mode]) {
    foreach ([1, 1234, 20240229, 4294967295] as $seed) {
        foreach ([10, 52, 100] as $n) {
            mt_srand($seed, $mode);
            $first = [];
            for ($row = 0; $row < 3; $row++) { $deck = range(0, $n - 1); shuffle($deck); array_push($first, ...$deck); }
            line($family, "shuffle", $n, $seed, $first);
            mt_srand($seed, $mode);
            $letters = implode("", array_map(fn($x) => chr($x), range(0, $n - 1)));
            $first = [];
            for ($row = 0; $row < 3; $row++) foreach (str_split(str_shuffle($letters)) as $c) $first[] = ord($c);
            line($family, "shuffle", $n, $seed, $first);
        }
        foreach ([[49, 6], [50, 5], [12, 2], [80, 4], [20, 10]] as [$n, $k]) {
            mt_srand($seed, $mode);
            $first = [];
            for ($row = 0; $row < 20; $row++) $first[] = rank(array_rand(range(0, $n - 1), $k));
            line($family, "sorted_distinct$k", ways($n, $k), $seed, $first);
            mt_srand($seed, $mode);
            $first = [];
            for ($row = 0; $row < 4; $row++) {
                $numbers = [];
                while (count($numbers) < $k) {
                    $x = mt_rand(0, $n - 1);
                    if (!in_array($x, $numbers)) $numbers[] = $x;
                }
                array_push($first, ...$numbers);
            }
            if ($mode == MT_RAND_MT19937) line($family, "distinct$k", $n, $seed, $first);
        }
    }
}
