// Prints vectors of java.util.Random: java make_java.java
import java.util.Random;
import java.util.StringJoiner;
import java.util.function.ToLongFunction;

class MakeJava {
    static final long[] SEEDS = {0L, 42L, -1L, 0x123456789ABCDEFL};
    static final int[] MODULI = {7, 1000, 1024, 1610612736};

    static String part(Random random, ToLongFunction<Random> call) {
        StringJoiner values = new StringJoiner(", ", "[", "]");
        for (int i = 0; i < 6; i++) values.add(Long.toString(call.applyAsLong(random)));
        return values.toString();
    }

    static void line(String output, long seed, int modulus, ToLongFunction<Random> call) {
        Random random = new Random(seed);
        String first = part(random, call);
        for (int i = 6; i < 1000; i++) call.applyAsLong(random);
        System.out.printf(
            "{\"family\": \"java\", \"output\": \"%s\", \"seed\": %s, \"modulus\": %d,"
                + " \"first\": %s, \"later\": %s}%n",
            output, Long.toUnsignedString(seed), modulus, first, part(random, call));
    }

    public static void main(String[] args) {
        for (long seed : SEEDS) {
            line("raw", seed, 1000, r -> Integer.toUnsignedLong(r.nextInt()));
            for (int m : MODULI) {
                line("bounded", seed, m, r -> r.nextInt(m));
                line("mod", seed, m, r -> Math.floorMod(r.nextInt(), m));
                line("long", seed, m, r -> Math.floorMod(r.nextLong(), m));
                line("abs", seed, m, r -> Math.abs(r.nextInt()) % m);
                line("abslong", seed, m, r -> Math.abs(r.nextLong() % m));
                line("scaled", seed, m, r -> (int) (r.nextDouble() * m));
                line("high", seed, m, r -> (Integer.toUnsignedLong(r.nextInt()) * m) >> 32);
            }
        }
    }
}
