// Prints vectors of SplittableRandom and Xoshiro256PlusPlus of the JDK:
// java --add-modules jdk.random --add-exports jdk.random/jdk.random=ALL-UNNAMED make_jdk.java
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.random.RandomGenerator;
import jdk.random.Xoshiro256PlusPlus;

class MakeJdk {
    static final long[] WORDS = {1L, 42L, -1L, 0x123456789ABCDEFL};
    static final int[] MODULI = {7, 1000, 1024, 1610612736};

    static long value(RandomGenerator source, String output, int modulus) {
        if (output.equals("bounded")) return source.nextInt(modulus);
        if (output.equals("scaled")) return (long) (source.nextDouble() * modulus);
        long word = source.nextLong();
        if (output.equals("mod")) return Long.remainderUnsigned(word, modulus);
        return word;
    }

    static String part(RandomGenerator source, String output, int modulus) {
        StringJoiner values = new StringJoiner(", ", "[", "]");
        for (int i = 0; i < 6; i++)
            values.add(Long.toUnsignedString(value(source, output, modulus)));
        return values.toString();
    }

    static void line(String family, String from, RandomGenerator source, String output, int m) {
        String first = part(source, output, m);
        for (int i = 6; i < 1000; i++) value(source, output, m);
        System.out.printf(
            "{\"family\": \"%s\", \"output\": \"%s\", %s, \"modulus\": %d,"
                + " \"first\": %s, \"later\": %s}%n",
            family, output, from, m, first, part(source, output, m));
    }

    static void lines(long word, String output, int m) {
        String seed = "\"seed\": " + Long.toUnsignedString(word);
        line("splitmix64", seed, new SplittableRandom(word), output, m);
        String state = String.format("\"state\": \"%016x%016x%016x%016x\"", word, 2L, 3L, ~word);
        line("xoshiro256pp", state, new Xoshiro256PlusPlus(word, 2L, 3L, ~word), output, m);
    }

    public static void main(String[] args) {
        for (long word : WORDS) {
            lines(word, "raw", 1000);
            for (int m : MODULI)
                for (String output : new String[] {"mod", "scaled"}) lines(word, output, m);
            String seed = "\"seed\": " + Long.toUnsignedString(word);
            for (int m : MODULI)
                for (String output : new String[] {"bounded", "scaled"})
                    line("java_splittable", seed, new SplittableRandom(word), output, m);
        }
    }
}
