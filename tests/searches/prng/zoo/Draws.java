// java Draws.java CALL SEED COUNT MODULUS: one draw in a line
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class Draws {
    public static void main(String[] args) {
        long seed = Long.parseLong(args[1]);
        int count = Integer.parseInt(args[2]);
        int m = (int) Math.min(Long.parseLong(args[3]), Integer.MAX_VALUE);
        Random random = new Random(seed);
        SplittableRandom splittable = new SplittableRandom(seed);
        Map<String, IntSupplier> draws = Map.of(
            "nextInt(m)", () -> random.nextInt(m),
            "floorMod(nextInt(),m)", () -> Math.floorMod(random.nextInt(), m),
            "abs(nextInt())%m", () -> Math.abs(random.nextInt()) % m,
            "floorMod(nextLong(),m)", () -> (int) Math.floorMod(random.nextLong(), (long) m),
            "abs(nextLong()%m)", () -> (int) Math.abs(random.nextLong() % m),
            "nextDouble()*m", () -> (int) (random.nextDouble() * m),
            "nextInt()", () -> random.nextInt(),
            "skipping nextInt(m)", () -> {
                int value = random.nextInt(m);
                for (int i = 0; i < 3; i++) random.nextInt(m);
                return value;
            },
            "SplittableRandom.nextInt(m)", () -> splittable.nextInt(m),
            "SplittableRandom.nextDouble()*m", () -> (int) (splittable.nextDouble() * m));
        if (args[0].equals("Collections.shuffle")) {
            for (int made = 0; made < count; made += m) {
                List<Integer> row = IntStream.range(0, m).boxed().collect(Collectors.toList());
                Collections.shuffle(row, random);
                row.forEach(System.out::println);
            }
            return;
        }
        for (int i = 0; i < count; i++)
            System.out.println(Integer.toUnsignedLong(draws.get(args[0]).getAsInt()));
    }
}
