# ruby draws.rb CALL SEED COUNT MODULUS: one draw in a line
call, seed, count, m = ARGV[0], *ARGV[1..].map(&:to_i)
srand(seed)
draw = {
  "rand(m)" => -> { rand(m) },
  "rand(a..b)" => -> { rand(1..m) - 1 },
  "rand*m" => -> { (rand * m).to_i },
  "Random.new" => (random = Random.new(seed); -> { random.rand(m) }),
}[call]
count.times { puts draw.call }
