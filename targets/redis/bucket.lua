-- Token bucket, generic cell rate algorithm and leaky bucket as a meter: three
-- texts of one rule. A request is admitted when what is in the bucket and its
-- cost are at most the burst, for every limit; what is in it drains at the rate.
-- Levels are counted in parts of a unit so small that a microsecond drains a
-- whole number of them, so no rate is ever rounded. No number reaches 2^53.
--
-- KEYS[1]            a hash: "at", when it was last charged, in µs, and "1", "2", …,
--                    the level of each limit then, in parts
-- ARGV[1]            the cost
-- ARGV[2]            the moment in µs; empty: the server's clock
-- ARGV[3]            ms that a key outlives what it counts
-- ARGV[3i+1 .. 3i+3] limit i: burst, parts of a unit, parts that drain in a µs
--
-- Returns 1 or 0 (admitted), burst and room left of the limit that has least,
-- µs until a refused request may fit (-1: never), the moment of decision in µs.
-- A refused request writes nothing.

local key, cost, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local fields = {'at'}
for i = 4, #ARGV, 3 do table.insert(fields, (i - 1) / 3) end
local stored = redis.call('HMGET', key, unpack(fields))
local at = tonumber(stored[1] or 0)
-- A clock that went back stands still here: nothing drains twice.
if now < at then now = at end

local admitted, never, wait, empty, count, left = true, false, 0, 0, 0, nil
local charge = {'HSET', key, 'at', string.format('%.0f', now)}
for i = 4, #ARGV, 3 do
  local burst, unit, drains = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local level = math.max(0, tonumber(stored[(i - 1) / 3 + 1] or 0) - (now - at) * drains)
  -- Both numbers of a division are whole and below 2^53, so its rounding never
  -- reaches a whole number from the wrong side.
  local room = math.floor((burst * unit - level) / unit)
  if cost > burst then
    admitted, never = false, true
  elseif cost > room then
    admitted = false
    wait = math.max(wait, math.ceil((level + cost * unit - burst * unit) / drains))
  end
  if not left or room < left then count, left = burst, room end
  table.insert(charge, (i - 1) / 3)
  table.insert(charge, string.format('%.0f', level + cost * unit))
  empty = math.max(empty, (level + cost * unit) / drains)
end

if not admitted then return {0, count, left, never and -1 or wait, now} end
redis.call(unpack(charge))
redis.call('PEXPIRE', key, math.ceil(empty / 1000) + tonumber(ARGV[3]))
return {1, count, left - cost, 0, now}
