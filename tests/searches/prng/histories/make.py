"""Write the histories beside this file with the real runtimes: java, php, python, gcc, node.

    python tests/searches/prng/histories/make.py FOLDER

The draws of each history are in NAME.csv, those that follow in NAME.next.csv, and its modulus is in
`index.json`. Seeds are fixed, so a second run writes the same files, except for v8, whose generator
is seeded by the operating system.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

NEXT = 100

JAVA = """
import java.util.Random;
public class Draws {
  public static void main(String[] a) {
    Random r = new Random(Long.parseLong(a[0]));
    int skip = Integer.parseInt(a[1]), start = Integer.parseInt(a[2]);
    for (int i = 0; i < start; i++) r.nextInt(1000);
    for (int i = 0; i < Integer.parseInt(a[3]); i++) {
      if (i > 0) for (int k = 0; k < skip; k++) r.nextInt(1000);
      System.out.println(r.nextInt(1000));
    }
  }
}
"""
PHP = 'mt_srand((int) $argv[1]); for ($i = 0; $i < $argv[2]; $i++) echo mt_rand() % 1000, "\\n";'
GLIBC = """
#include <stdio.h>
#include <stdlib.h>
int main(int n, char **a) {
  srand(strtoul(a[1], 0, 10));
  for (int i = 0; i < atoi(a[2]); i++) printf("%d\\n", rand() % 100);
}
"""
XORSHIFT = """
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
int main(int n, char **a) {
  uint64_t x = strtoull(a[1], 0, 10);
  for (int i = 0; i < atoi(a[2]); i++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    printf("%d\\n", (int) (x % 1000));
  }
}
"""
NODE = "for (let i = 0; i < +process.argv[1]; i++) console.log(Math.floor(Math.random() * 1000));"


def main(folder: Path) -> None:
    histories = {
        "java": (1000, java(0x5A17E3C90B42, 137, 1000, 120)),
        "php": (1000, told(["php", "-r", PHP, "--", "3141592653", "200"])),
        "cpython": (1000, cpython(987654321, 5000, 7200 + NEXT)),
        "glibc": (100, compiled(GLIBC, "2718281828", "220")),
        "v8": (1000, told(["node", "-e", NODE, "400"])),
        "xorshift64": (1000, compiled(XORSHIFT, "13579246801357924680", "220")),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, draws) in histories.items():
        known, later = draws[:-NEXT], draws[-NEXT:]
        if name == "java":
            known = corrupted(known, 5)
        write(folder / f"{name}.csv", known)
        write(folder / f"{name}.next.csv", later)
    index = {name: modulus for name, (modulus, _) in histories.items()}
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def java(seed: int, skip: int, start: int, count: int) -> list[int]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "Draws.java"
        path.write_text(JAVA)
        numbers = (seed, skip, start, count + NEXT)
        return told(["java", str(path), *(str(number) for number in numbers)])


def cpython(seed: int, start: int, count: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randrange(1000) for _ in range(start + count)][start:]


def compiled(source: str, *args: str) -> list[int]:
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "draws"
        argv = ["gcc", "-x", "c", "-O1", "-o", str(program), "-"]
        subprocess.run(argv, input=source, text=True, check=True)
        return told([str(program), *args])


def told(argv: list[str]) -> list[int]:
    result = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [int(line) for line in result.stdout.split()]


def corrupted(draws: list[int], percent: int) -> list[int]:
    """Replace some draws, always the same ones."""
    noise = random.Random(percent)
    return [noise.randrange(1000) if noise.randrange(100) < percent else d for d in draws]


def write(path: Path, draws: list[int]) -> None:
    path.write_text("draw\n" + "".join(f"{draw}\n" for draw in draws))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
