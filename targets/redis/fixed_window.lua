-- Fixed windows on the server's clock. A request is admitted when every limit
-- has room for its cost in its window, and only then charged, to all of them.
-- A refused request writes nothing: it uses no budget and opens no window.
--
-- KEYS[i]              limit i: a hash of "ends" (µs) and "used"
-- ARGV[1]              the cost
-- ARGV[3i-1 .. 3i+1]   limit i: count, window in µs, anchor ("epoch" or "first-request")
-- ARGV[last]           ms that a key outlives its window
--
-- Returns 1 or 0 (admitted), count and room left of the limit that has least,
-- µs until a refused request may fit (-1: never), the moment of decision in µs.

local cost = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local windows, admitted, never, wait = {}, true, false, 0
for i, key in ipairs(KEYS) do
  local count, length = tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local stored = redis.call('HMGET', key, 'ends', 'used')
  local w = {key = key, count = count, ends = tonumber(stored[1] or 0), used = tonumber(stored[2] or 0)}
  -- The end is part of the state, so the key's expiry never decides anything.
  if now >= w.ends then
    w.opens, w.used, w.ends = true, 0, now + length
    if ARGV[3 * i + 1] == 'epoch' then w.ends = w.ends - now % length end
  end
  if w.used + cost > count then
    admitted, wait = false, math.max(wait, w.ends - now)
  end
  never = never or cost > count
  windows[i] = w
end

local least
for _, w in ipairs(windows) do
  if admitted then
    w.used = w.used + cost
    redis.call('HSET', w.key, 'ends', w.ends, 'used', w.used)
    if w.opens then
      redis.call('PEXPIRE', w.key, math.ceil((w.ends - now) / 1000) + tonumber(ARGV[#ARGV]))
    end
  end
  if not least or w.count - w.used < least.count - least.used then least = w end
end

if never then wait = -1 end
return {admitted and 1 or 0, least.count, least.count - least.used, wait, now}
