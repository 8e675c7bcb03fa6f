-- Sliding windows. A log is the list in memory: the numbers of its header, how
-- many elements behind that were taken from the list (taken), and those read so
-- far (events). A log whose list is none, or makes no sense, is anew.

local function noEvents()
  return {used = 0, anew = true}
end

-- consistent says whether the numbers of a log agree with each other and with
-- whether an element follows those that were taken.
local function consistent(log)
  local more = log.events[log.taken + 1] ~= nil
  if log.used == log.first then
    return log.used > 0 and log.oldest == log.latest and log.gap == 0 and log.last == 0 and not more
  end
  local between = log.used - log.first - log.last
  return log.first > 0 and log.last > 0 and log.gap > 0 and log.latest - log.oldest >= log.gap
    and between >= 0 and (between == 0) == not more
end

-- readAhead makes sure that the next element has been read, if there is one. It
-- reads as many again as before: few for a request, and few calls for a walk.
local function readAhead(log)
  local n = #log.events
  if n == log.taken and not log.complete then
    local more = redis.call('LRANGE', log.key, n + 1, 2 * n)
    for i, element in ipairs(more) do
      log.events[n + i] = element
    end
    log.complete = #more < n
  end
end

local function readLog(key)
  local list = redis.pcall('LRANGE', key, 0, 4)
  if not list.err and #list == 0 then
    return noEvents(), false
  end
  local header = not list.err and table.remove(list, 1) or ''
  local used, oldest, first, latest, gap, last =
    string.match(header, '^(%d+) (%-?%d+) (%d+) (%-?%d+) (%d+) (%d+)$')
  if not used then
    return noEvents(), true
  end
  local log = {key = key, taken = 0, events = list, complete = #list < 4,
    used = tonumber(used), oldest = tonumber(oldest), first = tonumber(first),
    latest = tonumber(latest), gap = tonumber(gap), last = tonumber(last)}
  if log.used > countable or math.abs(log.oldest) > exact or math.abs(log.latest) > exact
    or not consistent(log) then
    return noEvents(), true
  end
  return log, false
end

-- drop forgets the oldest event, and says whether the log made sense.
local function drop(log)
  log.used = log.used - log.first
  if log.used == log.last then -- the latest is left, or nothing
    log.oldest, log.first, log.gap, log.last = log.latest, log.last, 0, 0
    return log.used == 0 or consistent(log)
  end
  log.taken = log.taken + 1
  local gap, units = string.match(log.events[log.taken], '^(%d+):?(%d*)$')
  if not gap then
    return false
  end
  log.oldest, log.first = log.oldest + tonumber(gap), tonumber(units) or 1
  readAhead(log)
  return consistent(log)
end

-- leaving returns when so many units will have left, nil if the log makes no sense.
local function leaving(log, units)
  local walk = {}
  for name, value in pairs(log) do
    walk[name] = value
  end
  while units > walk.first do
    units = units - walk.first
    if not drop(walk) then
      return nil
    end
  end
  return walk.oldest
end

local function slotEnd(limit, time)
  return time - time % limit.slot + limit.slot - 1
end

-- settle drops what has left the window, as slidingLog.settle does, which says
-- why a log moves as it does when the clock was set back. It returns whether the
-- log moved and whether it made sense.
local function settle(limit, log, now)
  if log.used == 0 then
    return false, true
  end
  local moved = log.latest - slotEnd(limit, now) > limit.counts
  if moved then
    local shift = log.latest - slotEnd(limit, now + limit.slot - 1)
    log.oldest, log.latest = log.oldest - shift, log.latest - shift
  end
  now = math.max(now, log.latest + 1 - limit.slot)
  if now - log.latest >= limit.counts then -- all at once, unread
    log.used, log.emptied = 0, true
  end
  while log.used > 0 and now - log.oldest >= limit.counts do
    if not drop(log) then
      return false, false
    end
  end
  return moved, true
end

local sliding = {}

function sliding.prepare(limit)
  limit.counts, limit.slot = limit.window, 1
  if limit.algorithm == 'sliding_log' then
    limit.counts = limit.window + limit.option -- inclusive: a microsecond longer
  else
    limit.slot = math.ceil(limit.window / limit.option)
  end
  limit.patience = limit.counts
end

-- decide finds what holds before the charge, and what would after it. The log is
-- read unless it is given.
function sliding.decide(limit, now, log)
  local sense, last
  if not log then
    log, limit.corrupt = readLog(limit.key)
  end
  limit.log, limit.at, limit.reset = log, slotEnd(limit, now), 0
  limit.moved, sense = settle(limit, log, now)
  if sense and log.used > 0 then
    limit.at, limit.reset = math.max(limit.at, log.latest), log.latest + limit.counts - now
  end
  limit.used, limit.resetCharged = log.used, limit.at + limit.counts - now
  local over = limit.used + limit.cost - limit.capacity
  if sense and over > 0 and limit.cost <= limit.capacity then
    last = leaving(log, over)
    limit.retry, sense = last and last + limit.counts - now, last ~= nil
  end
  if not sense then
    limit.corrupt = true
    sliding.decide(limit, now, noEvents())
  end
end

-- add records units at a time that is not before the latest event. An event that
-- was the latest, and is not any more, is returned: it goes to the list's end.
local function add(log, at, units)
  local behind
  log.used = log.used + units
  if log.used == units then
    log.oldest, log.first, log.latest, log.gap, log.last = at, units, at, 0, 0
  elseif at > log.latest then
    if log.last > 0 then
      behind = string.format(log.last == 1 and '%d' or '%d:%d', log.gap, log.last)
    end
    log.latest, log.gap, log.last = at, at - log.latest, units
  elseif log.last > 0 then
    log.last = log.last + units
  else
    log.first = log.first + units
  end
  return behind
end

-- write stores the log with so many units more. The header goes over the last
-- element that was taken. What needs memory comes first: where Redis has none it
-- fails before anything was changed.
function sliding.write(limit, units)
  local log, behind = limit.log, nil
  if units > 0 then
    behind = add(log, limit.at, units)
  end
  local header = string.format('%d %d %d %d %d %d',
    log.used, log.oldest, log.first, log.latest, log.gap, log.last)
  if log.anew then
    if limit.corrupt then
      redis.call('DEL', limit.key)
    end
    redis.call('RPUSH', limit.key, header)
  else
    redis.call('LSET', limit.key, log.taken, header)
    if log.emptied then
      redis.call('LTRIM', limit.key, log.taken, log.taken)
    elseif log.taken > 0 then
      redis.call('LTRIM', limit.key, log.taken, -1)
    end
    if behind then
      redis.call('RPUSH', limit.key, behind)
    end
  end
end
