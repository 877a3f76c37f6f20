-- Requests for wrk: REQUESTS.head has the path, the host and the content type, REQUESTS.jsonl one body per line.
local name = os.getenv("REQUESTS")
local head = {}
for line in io.lines(name .. ".head") do head[#head + 1] = line end
local requests = {}
for line in io.lines(name .. ".jsonl") do
  requests[#requests + 1] = wrk.format("POST", head[1], {["Host"] = head[2], ["Content-Type"] = head[3]}, line)
end
local last = 0
request = function()
  last = last % #requests + 1
  return requests[last]
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests": %d, "rate": %.2f, "p50": %.3f, "p99": %.3f, "max": %.3f, "failed": %d}\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, e.status + e.connect + e.read + e.write + e.timeout))
end
