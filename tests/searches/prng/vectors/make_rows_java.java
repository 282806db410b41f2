// java make_rows_java.java > rows_java.jsonl: Collections.shuffle and different numbers of nextInt.
import java.util.*;
import java.util.stream.*;

class Rows {
    static void line(String output, int modulus, long seed, List<Integer> first) {
        System.out.println("{\"family\": \"java_rows\", \"output\": \"" + output + "\", \"modulus\": " + modulus
            + ", \"seed\": " + seed + ", \"first\": " + first + "}");
    }

    static List<Integer> shuffled(int n, Random random) {
        List<Integer> deck = IntStream.range(0, n).boxed().collect(Collectors.toList());
        Collections.shuffle(deck, random);
        return deck;
    }

    public static void main(String[] args) {
        for (long seed : new long[] {0, 1234, 20240229, 4294967295L, 1L << 45}) {
            for (int n : new int[] {10, 52, 100}) {
                Random random = new Random(seed);
                List<Integer> first = new ArrayList<>();
                for (int row = 0; row < 3; row++) first.addAll(shuffled(n, random));
                line("shuffle", n, seed, first);
            }
            for (int[] size : new int[][] {{49, 6}, {50, 5}, {64, 4}, {90, 12}}) {
                Random random = new Random(seed);
                List<Integer> first = new ArrayList<>();
                for (int row = 0; row < 6; row++) {
                    List<Integer> numbers = new ArrayList<>();
                    while (numbers.size() < size[1]) {
                        int x = random.nextInt(size[0]);
                        if (!numbers.contains(x)) numbers.add(x);
                    }
                    first.addAll(numbers);
                }
                line("distinct" + size[1], size[0], seed, first);
                random = new Random(seed);
                first = new ArrayList<>();
                for (int row = 0; row < 6; row++) first.addAll(shuffled(size[0], random).subList(0, size[1]));
                line("deal" + size[1], size[0], seed, first);
            }
        }
    }
}
