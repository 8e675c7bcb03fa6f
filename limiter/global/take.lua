-- take.lua decides one request on Redis as limiter.Table does in a proxy: the
-- same answers to the microsecond, atomically, in one round trip. It needs Redis 5
-- or later, and in a cluster all keys of a request in one hash slot. It is joined
-- from arithmetic.lua, sliding.lua, bucket.lua and this file, in that order.
--
-- KEYS     one for each limit of each charge, no key twice. A key names what its
--          value can only be read with: the algorithm and the window, and
--          sliding buckets' number. All else may change and the window goes on.
-- ARGV[1]  the time in microseconds, of ±2^52, for tests; then no key expires, as
--          Redis would do that by its own clock. Empty: that clock, TIME.
-- ARGV[2]  "take": if every charge admits, all are recorded, else none is;
--          "peek": the same answer, and nothing is written.
-- ARGV[3…] seven values for each key:
--   charge     a number; the limits of one charge have the same
--   how        of the charge, letters: "s" in shadow, its refusal refuses
--              nothing; "p" decided and never recorded; "r" (without p) recorded
--              even where it does not fit; or ""
--   cost       1..2^31-1 units, of the charge
--   algorithm  sliding_log, sliding_buckets, token_bucket, leaky_bucket
--   limit      1..2^31-1 units that the window or the bucket (its burst) holds
--   window     1..31622400000000 microseconds: 366 days
--   option     sliding_log: 1 inclusive, else 0; sliding_buckets: how many,
--              1..10000; buckets: the requests per window that refill them,
--              1..2^31-1, and a full one takes at most 366 days
--
-- The reply is a flat array of integers: the time in microseconds, 1 if the
-- request is admitted, the number of values that could not be decoded, and for
-- each key five: 1 if the limit admits, the limit, the units remaining, the
-- microseconds until the cost is admitted (0 if it is, -1: never) and until the
-- quota is whole. Waits above 2^53 (285 years) are 2^53.
--
-- A refused request writes nothing, with two exceptions that the core makes too:
-- a window is moved when the clock was set back by more than it, and a bucket
-- that is now refilled more slowly is kept longer.
--
-- Values. Numbers are decimal, times are microseconds, and what makes no sense
-- counts as empty and is overwritten.
--   sliding windows  a list; its first element is "used oldest first latest gap
--                    last": the units of all events, time and units of the
--                    oldest, and time, distance from the one before and units of
--                    the latest (gap and last are 0 if that is the oldest too).
--                    The events between follow, oldest first, as "gap", or
--                    "gap:units" if those are not 1. Two to six bytes an event.
--   buckets          "time units parts": the level at a time; a unit has as many
--                    parts as the window has microseconds.
--
-- Time: O(1) for each key, amortised: an event is read and dropped once. A
-- refusal reads only the events that must leave before the cost fits, a peek
-- those that have left. Space: at most limit events, or one more than buckets.
--
-- Expiry. A key lives until its quota is whole, and longer by as much as a clock
-- may step back and be taken as the latest time seen, the window or the time to
-- refill, but at most an hour: such a step after the quota was whole finds the
-- key as if it had never expired. A longer one may find a window gone that has
-- passed once already; what is in a window is never lost by a step back.

local algorithms = {sliding_log = sliding, sliding_buckets = sliding, token_bucket = bucket, leaky_bucket = bucket}

local function clock()
  if ARGV[1] ~= '' then
    return tonumber(ARGV[1])
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- expire lets a key live until its quota is whole, and for as long as a clock may
-- step back. It names the moment: newer releases count PEXPIRE from when the script
-- began, which on a busy machine may have been a short window ago.
local function expire(limit, now, reset)
  if ARGV[1] == '' then
    local moment = now + reset + math.min(limit.patience, hour)
    redis.call('PEXPIREAT', limit.key, math.ceil(moment / 1000))
  end
end

-- prolong lets the key of a bucket that is not written live long enough, if it is
-- refilled more slowly than when it was.
local function prolong(limit, now)
  if ARGV[1] == '' and limit.reset > 0 then
    local left = redis.call('PTTL', limit.key)
    if left >= 0 and left * 1000 < limit.reset then
      expire(limit, now, limit.reset)
    end
  end
end

-- newLimit reads what is said of a key, and puts the limit to its charge.
local function newLimit(i, charges)
  local id, how, cost, algorithm, holds, window, option = unpack(ARGV, 7 * i - 4, 7 * i + 2)
  if not charges[id] then
    local function has(letter)
      return string.find(how, letter, 1, true) ~= nil
    end
    charges[id] = {shadow = has('s'), peek = has('p'), record = has('r'), allowed = true}
  end
  local limit = {key = KEYS[i], charge = charges[id], cost = tonumber(cost), algorithm = algorithm,
    limit = tonumber(holds), window = tonumber(window), option = tonumber(option)}
  limit.capacity = limit.charge.record and countable or limit.limit
  return limit
end

-- decide asks every limit, and returns whether the request is admitted.
local function decide(limits, charges, now)
  for _, limit in ipairs(limits) do
    local algorithm = algorithms[limit.algorithm]
    algorithm.prepare(limit)
    algorithm.decide(limit, now)
    limit.allowed = limit.used + limit.cost <= limit.capacity
    if limit.charge.record then -- what can be counted no more is not
      limit.cost = limit.allowed and limit.cost or 0
      limit.allowed = true
    end
    limit.charge.allowed = limit.charge.allowed and limit.allowed
  end
  for _, charge in pairs(charges) do
    if not charge.allowed and not charge.shadow then
      return false
    end
  end
  return true
end

-- commit writes what the request changes of one limit.
local function commit(limit, now, admitted)
  local charge, write = limit.charge, algorithms[limit.algorithm].write
  if admitted and charge.allowed and not charge.peek then
    write(limit, limit.cost)
    expire(limit, now, limit.cost > 0 and limit.resetCharged or limit.reset)
  elseif limit.moved and not charge.record then
    write(limit, 0)
    expire(limit, now, limit.reset)
  elseif limit.rate then
    prolong(limit, now)
  end
end

-- answer appends the decision of one limit. What is recorded come what may says
-- what remains after it; else what remains is without a charge that is not made.
local function answer(reply, limit, admitted)
  local charge = limit.charge
  local used, reset = limit.used, limit.reset
  if limit.cost > 0 and (charge.record or admitted and charge.allowed and not charge.peek) then
    used, reset = used + limit.cost, limit.resetCharged
  end
  local retry = limit.allowed and 0 or limit.retry or -1
  for _, n in ipairs({limit.allowed and 1 or 0, limit.limit, math.max(0, limit.limit - used),
    math.min(exact, retry), math.min(exact, reset)}) do
    table.insert(reply, n)
  end
end

local function take()
  if #ARGV ~= 2 + 7 * #KEYS then
    return redis.error_reply('ERR take: ' .. #ARGV .. ' arguments for ' .. #KEYS .. ' keys')
  end
  local now, limits, charges, corrupt = clock(), {}, {}, 0
  for i = 1, #KEYS do
    limits[i] = newLimit(i, charges)
  end
  local admitted = decide(limits, charges, now)
  local reply = {now, admitted and 1 or 0}
  for _, limit in ipairs(limits) do
    corrupt = corrupt + (limit.corrupt and 1 or 0)
  end
  reply[3] = corrupt
  for _, limit in ipairs(limits) do
    answer(reply, limit, admitted)
    if ARGV[2] == 'take' then
      commit(limit, now, admitted)
    end
  end
  return reply
end

return take()
