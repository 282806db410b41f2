// mcs -out:made make_rows_dotnet.cs && mono made > rows_dotnet.jsonl: Next(n), again while it was there.
using System;
using System.Collections.Generic;

class Rows {
    static void Main() {
        foreach (int seed in new[] {0, 1234, 20240229, int.MaxValue})
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
                Console.WriteLine("{\"family\": \"dotnet_rows\", \"output\": \"distinct" + size[1] + "\", \"modulus\": " + size[0]
                    + ", \"seed\": " + seed + ", \"first\": [" + string.Join(", ", first) + "]}");
            }
    }
}
