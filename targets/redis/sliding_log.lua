-- Sliding log: at a moment t a request is admitted when what was charged in
-- (t-W, t] and its own cost are at most the count, for every limit.
--
-- KEYS[1]           a sorted set with one member for each microsecond in which
--                   something was charged, "from:to": the sums of all costs
--                   before and after it. What a window holds is the difference
--                   between the newest "to" and its oldest "from", whatever the
--                   costs were. Sums begin again at 0 after 2^53.
-- ARGV[1]           the cost
-- ARGV[2]           the moment in µs; empty: the server's clock
-- ARGV[3]           ms that a key outlives its window
-- ARGV[2i+2, 2i+3]  limit i: count, window in µs
--
-- Returns 1 or 0 (admitted), count and room left of the limit that has least,
-- µs until a refused request may fit (-1: never), the moment of decision in µs.
-- A refused request writes nothing.

local around = 9007199254740992 -- 2^53
local key, cost, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function between(from, to)
  local sum = to - from
  if sum < 0 then sum = sum + around end
  return sum
end

local function sums(member)
  local from, to = string.match(member, '^(%d+):(%d+)$')
  return tonumber(from), tonumber(to)
end

local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
local last, from, to = tonumber(newest[2] or 0), 0, 0
if newest[1] then from, to = sums(newest[1]) end
-- A clock that went back stands still here, so that stamps stay in order.
if now < last then now = last end

-- since returns up to n members that are still in a window of that length.
local function since(length, n)
  return redis.call('ZRANGEBYSCORE', key, string.format('(%.0f', now - length), '+inf', 'LIMIT', 0, n)
end

-- untilFits is how long the oldest that must leave before it fits still stay.
-- Each costs 1 at least, so it reads no more members than the cost.
local function untilFits(length, must)
  local members = since(length, ARGV[1])
  local first = sums(members[1])
  for _, member in ipairs(members) do
    local _, through = sums(member)
    if between(first, through) >= must then
      return tonumber(redis.call('ZSCORE', key, member)) + length - now
    end
  end
end

local admitted, never, longest, count, left, tight = true, false, 0, 0, nil, {}
for i = 4, #ARGV, 2 do
  local limit, length = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local oldest, held = since(length, 1)[1], 0
  if oldest then held = between(sums(oldest), to) end
  if cost > limit - held then
    admitted = false
    table.insert(tight, {length = length, must = cost - (limit - held)})
  end
  never = never or cost > limit
  longest = math.max(longest, length)
  if not left or limit - held < left then count, left = limit, limit - held end
end

if not admitted then
  local wait = -1
  if not never then
    for _, t in ipairs(tight) do wait = math.max(wait, untilFits(t.length, t.must)) end
  end
  return {0, count, left, wait, now}
end

redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - longest))
-- What is charged in one microsecond is one member, and none is lost.
if now == last then redis.call('ZREM', key, newest[1]) else from = to end
to = to - around + cost -- in this order every number stays below 2^53
if to < 0 then to = to + around end
redis.call('ZADD', key, string.format('%.0f', now), string.format('%.0f:%.0f', from, to))
redis.call('PEXPIRE', key, math.ceil(longest / 1000) + tonumber(ARGV[3]))
return {1, count, left - cost, 0, now}
