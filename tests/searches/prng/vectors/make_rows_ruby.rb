# ruby make_rows_ruby.rb > rows_ruby.jsonl: shuffle, sample and rows of different numbers.
require 'json'
def ways(n, k) = (0...k).reduce(1) { |w, i| w * (n - i) / (i + 1) }
def rank(row) = row.sort.each_with_index.sum { |x, i| x < i + 1 ? 0 : ways(x, i + 1) }
def line(output, modulus, seed, first)
  puts({ family: 'mt19937_rows', output: output, modulus: modulus, seed: seed, first: first }.to_json)
end
[1, 1234, 20240229, 4294967295].each do |seed|
  [10, 52, 100].each do |n|
    srand(seed)
    line('shuffle', n, seed, (1..3).flat_map { (0...n).to_a.shuffle })
  end
  [[49, 6], [50, 5], [12, 2], [80, 3], [60, 10]].each do |n, k|
    srand(seed)
    line("sample#{k}", n, seed, (1..6).flat_map { (0...n).to_a.sample(k) })
    srand(seed)
    rows = (1..6).map { (0...n).to_a.sample(k) }
    line("sorted_sample#{k}", ways(n, k), seed, rows.map { |row| rank(row) }) if ways(n, k) <= 2**32
    srand(seed)
    rows = (1..6).map { row = []; (x = rand(n); row << x unless row.include?(x)) while row.size < k; row }
    line("distinct#{k}", n, seed, rows.flatten)
  end
end
