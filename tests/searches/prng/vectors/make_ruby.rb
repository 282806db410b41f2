# Prints vectors of Ruby's rand, which is MT19937: ruby make_ruby.rb
SEEDS = [0, 1, 42, 4294967295, 1234]
MODULI = [7, 1000, 1024, 1610612736]

def line(output, seed, modulus)
  srand(seed)
  values = Array.new(1006) { yield }
  puts %({"family": "mt19937", "output": "#{output}", "seed": #{seed}, "modulus": #{modulus}, ) +
       %("first": [#{values.first(6).join(', ')}], "later": [#{values.last(6).join(', ')}]})
end

SEEDS.each do |seed|
  MODULI.each do |m|
    line("masked", seed, m) { rand(m) }
    line("masked", seed, m) { rand(0..m - 1) }
    line("scaled", seed, m) { (rand * m).to_i }
  end
end
