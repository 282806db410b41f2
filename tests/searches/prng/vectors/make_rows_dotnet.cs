// mcs -out:made make_rows_dotnet.cs && mono made > rows_dotnet.jsonl: Next(n), again while it was there;
// Fisher and Yates by hand; and the loop of Random.Shuffle of .NET 8, which Mono does not have.
using System;
using System.Collections.Generic;

class Rows {
    static void Print(string family, string output, int modulus, int seed, List<int> first) {
        Console.WriteLine("{\"family\": \"" + family + "\", \"output\": \"" + output + "\", \"modulus\": " + modulus
            + ", \"seed\": " + seed + ", \"first\": [" + string.Join(", ", first) + "]}");
    }

    static List<int> Shuffled(Random random, int count, bool forward) {
        var row = new List<int>();
        for (int i = 0; i < count; i++) row.Add(i);
        for (int k = 0; k < count - 1; k++) {
            int i = forward ? k : count - 1 - k, j = forward ? random.Next(k, count) : random.Next(i + 1);
            int other = row[i];
            row[i] = row[j];
            row[j] = other;
        }
        return row;
    }

    static void Main() {
        foreach (int seed in new[] {0, 1234, 20240229, int.MaxValue}) {
            foreach (var size in new[] {new[] {49, 6}, new[] {50, 5}, new[] {90, 12}}) {
                var random = new Random(seed);
                var first = new List<int>();
                for (int r = 0; r < 6; r++) {
                    var row = new List<int>();
                    while (row.Count < size[1]) {
                        int x = random.Next(size[0]);
                        if (!row.Contains(x)) row.Add(x);
                    }
                    first.AddRange(row);
                }
                Print("dotnet_rows", "distinct" + size[1], size[0], seed, first);
            }
            foreach (bool forward in new[] {false, true}) {
                var random = new Random(seed);
                var first = new List<int>();
                for (int r = 0; r < 3; r++) first.AddRange(Shuffled(random, 52, forward));
                Print(forward ? "dotnet8_rows" : "dotnet_rows", "shuffle", 52, seed, first);
            }
        }
    }
}
