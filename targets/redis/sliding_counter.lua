-- Sliding counter: with windows [k·W, (k+1)·W), a request is admitted when
-- before · (1 - frac) + own + cost is at most the count, for every limit, where
-- before and own were charged in the window before and in this one, and frac is
-- the part of this one that is over. Fractions are exact; no number reaches 2^53.
--
-- KEYS[1]           a hash: "at", when it was last charged, in µs, and for each
--                   limit i "before:i" and "own:i", as of then
-- ARGV[1]           the cost
-- ARGV[2]           the moment in µs; empty: the server's clock
-- ARGV[3]           ms that a key outlives its windows
-- ARGV[2i+2, 2i+3]  limit i: count, window in µs
--
-- Returns 1 or 0 (admitted), count and room left of the limit that has least,
-- µs until a refused request may fit (-1: never), the moment of decision in µs.
-- A refused request writes nothing.

local key, cost, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local fields = {'at'}
for i = 4, #ARGV, 2 do
  table.insert(fields, 'before:' .. i / 2 - 1)
  table.insert(fields, 'own:' .. i / 2 - 1)
end
local stored = redis.call('HMGET', key, unpack(fields))
local at = tonumber(stored[1] or 0)
-- A clock that went back stands still here, so that no window is counted again.
if now < at then now = at end

local admitted, never, wait, longest, count, left = true, false, 0, 0, 0, nil
local charge = {'HSET', key, 'at', string.format('%.0f', now)}
for i = 4, #ARGV, 2 do
  local limit, length = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local before, own = tonumber(stored[i - 2] or 0), tonumber(stored[i - 1] or 0)
  local ends = length - now % length
  local passed = math.floor(now / length) - math.floor(at / length)
  if passed == 1 then before, own = own, 0 end
  if passed > 1 then before, own = 0, 0 end
  -- A part of a unit counts as a whole one: that changes no comparison with a
  -- whole cost. Both numbers of a division are whole and below 2^53, so its
  -- rounding never reaches a whole number from the wrong side.
  local room = limit - own - math.ceil(before * ends / length)
  if cost > limit then
    admitted, never = false, true
  elseif cost > room then
    admitted = false
    if cost <= limit - own then
      wait = math.max(wait, ends - math.floor((limit - own - cost) * length / before))
    else -- this window must end, and slide out in its turn
      wait = math.max(wait, ends + length - math.floor((limit - cost) * length / own))
    end
  end
  longest = math.max(longest, ends + length)
  if not left or room < left then count, left = limit, room end
  for _, field in ipairs({fields[i - 2], before, fields[i - 1], own + cost}) do table.insert(charge, field) end
end

if not admitted then return {0, count, left, never and -1 or wait, now} end
redis.call(unpack(charge))
redis.call('PEXPIRE', key, math.ceil(longest / 1000) + tonumber(ARGV[3]))
return {1, count, left - cost, 0, now}
