-- Sends the requests of a file once each, one line each: token, method, path, body, by tabs.
-- Every thread of wrk takes its own share. Prints what was answered as one line of JSON.
local threads = {}
local count = 0

function setup(thread)
  thread:set("id", count)
  table.insert(threads, thread)
  count = count + 1
end

function init(arguments)
  requests, at, answered = {}, 0, {}
  local number, share = 0, tonumber(arguments[2])
  for line in io.lines(arguments[1]) do
    if number % share == id then
      local token, method, path, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
      local headers = { ["Authorization"] = "Bearer " .. token }
      if body ~= "" then headers["Content-Type"] = "application/json" else body = nil end
      table.insert(requests, wrk.format(method, path, headers, body))
    end
    number = number + 1
  end
end

function request()
  at = at + 1
  return requests[(at - 1) % #requests + 1]
end

function response(status)
  answered[status] = (answered[status] or 0) + 1
end

function done(summary, latency)
  local all = {}
  for _, thread in ipairs(threads) do
    for status, number in pairs(thread:get("answered")) do
      all[status] = (all[status] or 0) + number
    end
  end
  local statuses = {}
  for status, number in pairs(all) do
    table.insert(statuses, string.format('"%d":%d', status, number))
  end
  local errors = summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"errors":%d,"statuses":{%s}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors, table.concat(statuses, ",")))
end
