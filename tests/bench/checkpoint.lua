-- checkpoint.lua - for wrk: one small decision after the other.
wrk.method = "POST"
wrk.body = '{"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":60,"mean_failure_interval_s":3600}]}'
wrk.headers["Content-Type"] = "application/json"
