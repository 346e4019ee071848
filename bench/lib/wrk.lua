-- The request comes from the environment, the figures go out as one line of JSON.
wrk.method = os.getenv("BENCH_METHOD")
wrk.body = os.getenv("BENCH_BODY")
wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN")
if os.getenv("BENCH_IF_NONE_MATCH") then
  wrk.headers["If-None-Match"] = os.getenv("BENCH_IF_NONE_MATCH")
end
if wrk.body then
  wrk.headers["Content-Type"] = "application/json"
end

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"failed":%d,"p50":%.4f,"p99":%.4f}\n',
    summary.requests,
    summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3
  ))
end
