-- Fixed windows. A request is admitted when every limit has room for its cost in
-- its window, and only then charged, to all of them. A refused request writes
-- nothing: it uses no budget and opens no window.
--
-- KEYS[i]            limit i: a hash of "ends" (µs) and "used"
-- ARGV[1]            the cost
-- ARGV[2]            the moment in µs; empty: the server's clock
-- ARGV[3]            ms that a key outlives its window
-- ARGV[3i+1 .. 3i+3] limit i: count, window in µs, anchor ("epoch" or "first-request")
--
-- Returns 1 or 0 (admitted), count and room left of the limit that has least,
-- µs until a refused request may fit (-1: never), the moment of decision in µs.

local cost, now = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local windows = {}
for i, key in ipairs(KEYS) do
  local stored = redis.call('HMGET', key, 'ends', 'used')
  local w = {key = key, count = tonumber(ARGV[3 * i + 1]), length = tonumber(ARGV[3 * i + 2])}
  w.ends, w.used = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
  -- A clock that went back stands still here: no window is gone back to.
  now = math.max(now, w.ends - w.length)
  windows[i] = w
end

local admitted, never, wait, least = true, false, 0, nil
for i, w in ipairs(windows) do
  -- The end is part of the state, so the key's expiry never decides anything.
  if now >= w.ends then
    w.opens, w.used, w.ends = true, 0, now + w.length
    if ARGV[3 * i + 3] == 'epoch' then w.ends = w.ends - now % w.length end
  end
  if w.used + cost > w.count then
    admitted, wait = false, math.max(wait, w.ends - now)
  end
  never = never or cost > w.count
  if not least or w.count - w.used < least.count - least.used then least = w end
end

if not admitted then
  return {0, least.count, least.count - least.used, never and -1 or wait, now}
end
for _, w in ipairs(windows) do
  w.used = w.used + cost
  redis.call('HSET', w.key, 'ends', w.ends, 'used', w.used)
  if w.opens then redis.call('PEXPIRE', w.key, math.ceil((w.ends - now) / 1000) + tonumber(ARGV[3])) end
end
return {1, least.count, least.count - least.used, 0, now}
