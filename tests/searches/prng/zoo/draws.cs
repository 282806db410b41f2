// mcs -out:draws.exe draws.cs && mono draws.exe CALL SEED COUNT MODULUS: one draw in a line
using System;

static class Draws {
    static void Shuffle(Random random, int count, bool forward) {
        var row = new int[count];
        for (var i = 0; i < count; i++) row[i] = i;
        for (var k = 0; k < count - 1; k++) {
            int i = forward ? k : count - 1 - k, j = forward ? random.Next(k, count) : random.Next(i + 1);
            int other = row[i];
            row[i] = row[j];
            row[j] = other;
        }
        foreach (var value in row) Console.WriteLine(value);
    }

    static void Main(string[] args) {
        var random = new Random((int) uint.Parse(args[1]));
        int count = int.Parse(args[2]), m = int.Parse(args[3]);
        if (args[0].EndsWith("shuffle")) {
            for (var made = 0; made < count; made += m) Shuffle(random, m, args[0] == "forward shuffle");
            return;
        }
        for (var i = 0; i < count; i++)
            Console.WriteLine(args[0] == "Next(m)" ? random.Next(m)
                : args[0] == "Next(a,b)" ? random.Next(1, m + 1) - 1
                : (int) (random.NextDouble() * m));
    }
}
