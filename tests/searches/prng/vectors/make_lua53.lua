-- Prints vectors of math.random of Lua 5.3 on Linux: lua5.3 make_lua53.lua
for _, seed in ipairs({0, 1, 42, 2147483647, 1234567890}) do
  for _, m in ipairs({7, 1000, 1024, 1610612736}) do
    math.randomseed(seed)
    local first, later = {}, {}
    for i = 0, 1005 do
      local value = math.random(0, m - 1)
      if i < 6 then first[#first + 1] = value end
      if i >= 1000 then later[#later + 1] = value end
    end
    print(string.format(
      '{"family": "lua53", "output": "scaled", "seed": %d, "modulus": %d, "first": [%s], "later": [%s]}',
      seed, m, table.concat(first, ", "), table.concat(later, ", ")))
  end
end
