-- Buckets. A level is units and parts, of which a unit has as many as the window
-- has microseconds, so that what drains in one is a whole number of parts.

local bucket = {}

-- draining is how many microseconds a level takes to drain, rounded up.
local function draining(limit, units, parts)
  local time, rest = mulDiv(units, limit.window, limit.rate)
  return math.min(exact, time + math.ceil((rest + parts) / limit.rate))
end

local function ceil(units, parts)
  return parts > 0 and units + 1 or units
end

-- drain returns what is left of a level after so many microseconds.
local function drain(limit, units, parts, time)
  local gone, rest = mulDiv(time, limit.rate, limit.window)
  units, parts = units - gone, parts - rest
  if parts < 0 then
    units, parts = units - 1, parts + limit.window
  end
  if units < 0 then
    return 0, 0
  end
  return units, parts
end

-- readBucket returns a time and the level at it, and whether the value made sense.
local function readBucket(limit)
  local value = redis.pcall('GET', limit.key)
  if not value then
    return 0, 0, 0, true
  end
  local at, units, parts = string.match(type(value) == 'string' and value or '', '^(%-?%d+) (%d+) (%d+)$')
  at, units, parts = tonumber(at), tonumber(units), tonumber(parts)
  if not at or math.abs(at) > exact or units > countable or parts >= limit.window then
    return 0, 0, 0, false
  end
  return at, units, parts, true
end

function bucket.prepare(limit)
  limit.rate = limit.option
  limit.patience = draining(limit, limit.limit, 0)
end

-- decide is tokenBucket.take and its settle.
function bucket.decide(limit, now)
  local at, units, parts, sense = readBucket(limit)
  limit.corrupt = not sense
  local ahead = at - now
  if units + parts == 0 then
    at = now
  elseif ahead > limit.patience then -- the clock was set back: the level comes along
    at, limit.moved = now, true
  elseif ahead <= 0 then
    units, parts = drain(limit, units, parts, -ahead)
    at = now
  end
  local late = at - now
  limit.at, limit.units, limit.parts = at, units, parts
  limit.used = ceil(units, parts)
  limit.reset = units + parts > 0 and late + draining(limit, units, parts) or 0
  limit.resetCharged = late + draining(limit, units + limit.cost, parts)
  local over = units + limit.cost - limit.capacity
  if limit.used + limit.cost > limit.capacity and limit.cost <= limit.capacity then
    limit.retry = late + draining(limit, over, parts)
  end
end

function bucket.write(limit, units)
  local level = string.format('%d %d %d', limit.at, limit.units + units, limit.parts)
  redis.call('SET', limit.key, level)
end
