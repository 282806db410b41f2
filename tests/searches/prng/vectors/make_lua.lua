-- Prints vectors of math.random of Lua 5.4, which is xoshiro256**: lua5.4 make_lua.lua
-- Lua fills the state with the seed, 0xff, 0, 0 and drops 16 outputs.
local function unsigned(value)
  if value >= 0 then return tostring(value) end
  local tenth = (value >> 1) // 5
  return tostring(tenth) .. tostring(value - tenth * 10)
end

for _, seed in ipairs({0, 1, 42, 0x123456789ABCDEF}) do
  math.randomseed(seed)
  local first, later = {}, {}
  for i = 0, 1005 do
    local value = unsigned(math.random(0))
    if i < 6 then first[#first + 1] = value end
    if i >= 1000 then later[#later + 1] = value end
  end
  print(string.format(
    '{"family": "xoshiro256ss", "output": "raw", "state": "%016x%016x%032x", "start": 16,'
      .. ' "modulus": 1000, "first": [%s], "later": [%s]}',
    seed, 0xff, 0, table.concat(first, ", "), table.concat(later, ", ")))
end

local function line(output, seed, m, call)
  math.randomseed(seed)
  local first, later = {}, {}
  for i = 0, 1005 do
    local value = call()
    if i < 6 then first[#first + 1] = value end
    if i >= 1000 then later[#later + 1] = value end
  end
  print(string.format(
    '{"family": "lua54", "output": "%s", "seed": %d, "modulus": %d, "first": [%s], "later": [%s]}',
    output, seed, m, table.concat(first, ", "), table.concat(later, ", ")))
end

for _, seed in ipairs({0, 1, 42, 4294967295, 1234567890}) do
  for _, m in ipairs({7, 1000, 1024, 1610612736}) do
    line("bounded", seed, m, function() return math.random(m) - 1 end)
    line("bounded", seed, m, function() return math.random(5, m + 4) - 5 end)
    line("scaled", seed, m, function() return math.floor(math.random() * m) end)
  end
end
