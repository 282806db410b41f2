-- lua5.3|lua5.4 draws.lua CALL SEED COUNT MODULUS: one draw in a line
local call, m = arg[1], math.tointeger(tonumber(arg[4]))
math.randomseed(math.tointeger(tonumber(arg[2])))
local draw = ({
  ["random(m)"] = function() return math.random(m) - 1 end,
  ["random(a,b)"] = function() return math.random(0, m - 1) end,
  ["random()*m"] = function() return math.floor(math.random() * m) end,
})[call]
for _ = 1, tonumber(arg[3]) do print(draw()) end
