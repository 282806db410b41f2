# ruby draws.rb CALL SEED COUNT MODULUS: one draw in a line
call, seed, count, m = ARGV[0], *ARGV[1..].map(&:to_i)
srand(seed)
draw = {
  "rand(m)" => -> { rand(m) },
  "rand(a..b)" => -> { rand(1..m) - 1 },
  "shuffle" => -> { (0...m).to_a.shuffle },
  "sample 6" => -> { (0...m).to_a.sample(6) },
  "rand*m" => -> { (rand * m).to_i },
  "Random.new" => (random = Random.new(seed); -> { random.rand(m) }),
}[call]
made = 0
while made < count
  row = Array(draw.call)
  made += row.size
  puts row
end
