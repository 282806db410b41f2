// mcs -out:draws.exe draws.cs && mono draws.exe CALL SEED COUNT MODULUS: one draw in a line
using System;

static class Draws {
    static void Main(string[] args) {
        var random = new Random((int) uint.Parse(args[1]));
        int count = int.Parse(args[2]), m = int.Parse(args[3]);
        for (var i = 0; i < count; i++)
            Console.WriteLine(args[0] == "Next(m)" ? random.Next(m)
                : args[0] == "Next(a,b)" ? random.Next(1, m + 1) - 1
                : (int) (random.NextDouble() * m));
    }
}
