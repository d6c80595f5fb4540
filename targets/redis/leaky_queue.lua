-- Leaky bucket as a queue: a request is let in when what is in the queue and its
-- cost are at most the capacity, and goes when all before it has drained at the
-- rate. The level is counted in parts of a unit so small that a microsecond
-- drains a whole number of them, so no rate is ever rounded. No number reaches 2^53.
--
-- KEYS[1]  a hash: "at", when it was last charged, in µs, and "level" then, in parts
-- ARGV[1]  the cost
-- ARGV[2]  the moment in µs; empty: the server's clock
-- ARGV[3]  ms that a key outlives its queue
-- ARGV[4]  capacity, ARGV[5] parts of a unit, ARGV[6] parts that drain in a µs
--
-- Returns 1 or 0 (let in), capacity and room left, µs until a refused request may
-- fit (-1: never), the moment of decision in µs, and the moment at which a request
-- that was let in goes. A refused request writes nothing.

local key, cost, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local capacity, unit, drains = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local stored = redis.call('HMGET', key, 'at', 'level')
local at = tonumber(stored[1] or 0)
-- A clock that went back stands still here: nothing drains twice.
if now < at then now = at end
local level = math.max(0, tonumber(stored[2] or 0) - (now - at) * drains)
-- Both numbers of a division are whole and below 2^53, so its rounding never
-- reaches a whole number from the wrong side.
local room = math.floor((capacity * unit - level) / unit)

if cost > capacity then return {0, capacity, room, -1, now} end
if cost > room then
  return {0, capacity, room, math.ceil((level + cost * unit - capacity * unit) / drains), now}
end
local after = level + cost * unit
redis.call('HSET', key, 'at', string.format('%.0f', now), 'level', string.format('%.0f', after))
redis.call('PEXPIRE', key, math.ceil(after / drains / 1000) + tonumber(ARGV[3]))
return {1, capacity, room - cost, 0, now, now + math.ceil(level / drains)}
