-- Arithmetic. Lua's numbers are doubles, exact up to 2^53. Every time and sum of
-- times is below that; the one product that is not goes through mulDiv. Write
-- numbers with string.format('%d'): tostring rounds them to 14 digits.

local exact = 9007199254740992 -- 2^53
local countable = 4294967295 -- units that a value may hold, whatever the limit: 2^32-1
local hour = 3600000000

-- divide returns x/y rounded down and the rest, exactly for |x| < 2^53.
local function divide(x, y)
  local rest = x % y
  return (x - rest) / y, rest
end

-- mulDiv returns x·y/z rounded down and the rest, exactly for x, y < 2^53 and z of
-- up to 366 days; a larger quotient is 2^53. It is long division by seven bits
-- of y at a time, so that no step exceeds 255·z, which is below 2^53.
local function mulDiv(x, y, z)
  local times, quotient, rest, place = 0, 0, 0, 1
  times, x = divide(x, z)
  local whole = times * y
  while place * 128 <= y do
    place = place * 128
  end
  while place >= 1 do
    local digit, q
    digit, y = divide(y, place)
    q, rest = divide(rest * 128 + x * digit, z)
    quotient, place = quotient * 128 + q, place / 128
  end
  return math.min(exact, whole + quotient), rest
end
