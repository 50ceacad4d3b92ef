-- Samples, reports of sites and transfers have natural keys too, as failures (0014). The
-- unique indexes begin as those that they replace, so that reading stays as quick.

SELECT remove_doubles('load_sample', 'resource_id, coalesce(to_resource_id, ''''), observed_at,'
    ' cpu_available_ratio IS NULL, memory_available_bytes IS NULL, bandwidth_mbps IS NULL,'
    ' latency_s IS NULL', 'observed_at', 'true');
CREATE UNIQUE INDEX load_sample_key ON load_sample (tenant, resource_id, observed_at,
    (coalesce(to_resource_id, '')), (CASE WHEN cpu_available_ratio IS NULL THEN 0 ELSE 1 END
    + CASE WHEN memory_available_bytes IS NULL THEN 0 ELSE 2 END
    + CASE WHEN bandwidth_mbps IS NULL THEN 0 ELSE 4 END
    + CASE WHEN latency_s IS NULL THEN 0 ELSE 8 END));
DROP INDEX load_sample_resource;

SELECT remove_doubles('site_error', 'site_id, coalesce(job_id, ''''), observed_at',
    'observed_at', 'true');
CREATE UNIQUE INDEX site_error_key ON site_error
    (tenant, site_id, observed_at, (coalesce(job_id, '')));
DROP INDEX site_error_site;

-- Four names together may be longer than what an index takes.
SELECT remove_doubles('transfer_actual', 'from_site_id, to_site_id, coalesce(file_id, ''''),'
    ' coalesce(job_id, ''''), finished_at', 'finished_at', 'true');
CREATE UNIQUE INDEX transfer_actual_key ON transfer_actual (tenant, from_site_id, finished_at,
    to_site_id, (md5(coalesce(file_id, ''))::uuid), (md5(coalesce(job_id, ''))::uuid));
DROP INDEX transfer_actual_from;

-- The running means of moves follow when a move is corrected or removed. In the order of
-- the key, so that two statements cannot wait for each other.
CREATE FUNCTION reschedule_event_from_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reschedule_cost AS known SET
        event_count = known.event_count - gone.n,
        mean_cost_s = CASE WHEN known.event_count = gone.n THEN 0
            ELSE known.mean_cost_s + (known.mean_cost_s - gone.mean) * gone.n
                / (known.event_count - gone.n) END
    FROM (SELECT tenant, from_site_id, to_site_id, count(*) AS n, avg(cost_s) AS mean
          FROM old_event GROUP BY 1, 2, 3 ORDER BY 1, 2, 3) AS gone
    WHERE known.tenant = gone.tenant AND known.from_site_id = gone.from_site_id
        AND known.to_site_id = gone.to_site_id;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO reschedule_cost AS known
        SELECT tenant, from_site_id, to_site_id, count(*), avg(cost_s)
        FROM new_event GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (tenant, from_site_id, to_site_id) DO UPDATE SET
            event_count = known.event_count + excluded.event_count,
            mean_cost_s = known.mean_cost_s + (excluded.mean_cost_s - known.mean_cost_s)
                * excluded.event_count / (known.event_count + excluded.event_count);
    END IF;
    DELETE FROM reschedule_cost AS known USING old_event AS gone
    WHERE known.tenant = gone.tenant AND known.from_site_id = gone.from_site_id
        AND known.to_site_id = gone.to_site_id AND known.event_count <= 0;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION reschedule_event_from_cost IS 'Takes corrected and removed moves out of the running means, and puts corrected ones back';

CREATE TRIGGER reschedule_event_corrected AFTER UPDATE ON reschedule_event
    REFERENCING OLD TABLE AS old_event NEW TABLE AS new_event
    FOR EACH STATEMENT EXECUTE FUNCTION reschedule_event_from_cost();
CREATE TRIGGER reschedule_event_removed AFTER DELETE ON reschedule_event
    REFERENCING OLD TABLE AS old_event
    FOR EACH STATEMENT EXECUTE FUNCTION reschedule_event_from_cost();
