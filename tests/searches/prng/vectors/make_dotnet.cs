// Prints vectors of System.Random: mcs -out:made make_dotnet.cs && mono made
using System;
using System.Linq;

static class MakeDotnet {
    static readonly int[] Seeds = {0, 1, 42, -42, 161803398, 161803399, int.MaxValue, int.MinValue};
    static readonly int[] Moduli = {7, 1000, 1024, 1610612736};

    static void Line(string output, int seed, int modulus, Func<Random, int> call) {
        var random = new Random(seed);
        var values = Enumerable.Range(0, 1006).Select(_ => call(random)).ToArray();
        Console.WriteLine(
            "{{\"family\": \"dotnet\", \"output\": \"{0}\", \"seed\": {1}, \"modulus\": {2},"
            + " \"first\": [{3}], \"later\": [{4}]}}",
            output, (uint) seed, modulus,
            string.Join(", ", values.Take(6)), string.Join(", ", values.Skip(1000)));
    }

    static void Main() {
        foreach (var seed in Seeds) {
            Line("raw", seed, 1000, random => random.Next());
            foreach (var m in Moduli) {
                Line("bounded", seed, m, random => random.Next(m));
                Line("mod", seed, m, random => random.Next() % m);
            }
        }
    }
}
