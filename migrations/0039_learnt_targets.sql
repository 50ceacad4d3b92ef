-- Models of two more targets: disk_peak_bytes and cpus_used.

COMMENT ON COLUMN model.target IS 'What it predicts: run_time_s, memory_peak_bytes, disk_peak_bytes or cpus_used; no unit';

-- Of runs the value that a model of a target learns; null: none. What a run had asked for
-- of its disk is not known, so one that failed for it bounds nothing. The function of
-- seven values stays for replicas with the program before.
CREATE FUNCTION learnt_value(target text, ignored boolean, exit_code integer,
    failure_kind text, run_time_s double precision, memory_peak_bytes double precision,
    memory_requested_bytes double precision, disk_peak_bytes double precision,
    cpus_used double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN ignored THEN NULL
        WHEN target = 'memory_peak_bytes' AND failure_kind = 'memory'
            THEN nullif(greatest(memory_requested_bytes, 0), 0)
        WHEN failure_kind <> 'none' OR coalesce(exit_code, 0) <> 0 THEN NULL
        WHEN target = 'memory_peak_bytes' THEN nullif(greatest(memory_peak_bytes, 0), 0)
        WHEN target = 'disk_peak_bytes' THEN nullif(greatest(disk_peak_bytes, 0), 0)
        WHEN target = 'cpus_used' THEN nullif(greatest(cpus_used, 0), 0)
        ELSE run_time_s
    END
$$;

COMMENT ON FUNCTION learnt_value(text, boolean, integer, text, double precision,
    double precision, double precision, double precision, double precision)
    IS 'What a model of a target learns of a run';

CREATE OR REPLACE FUNCTION execution_to_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(key)
    FROM (SELECT DISTINCT model_lock_key(tenant, application_id) AS key
          FROM new_execution ORDER BY 1) AS keys;
    INSERT INTO model_sample (tenant, model_id, execution_id, started_at, run_time_s,
        problem_size, processors, cpu_available_ratio, bandwidth_mbps, dedicated,
        parameters, verdict, resource_class, site_id, is_bound)
    SELECT * FROM (
        SELECT m.tenant, m.model_id, e.execution_id, e.started_at,
            learnt_value(m.target, e.ignored, e.exit_code, e.failure_kind, e.run_time_s,
                e.memory_peak_bytes, e.memory_requested_bytes, e.disk_peak_bytes, e.cpus_used) AS value,
            e.problem_size, e.processors, e.cpu_available_ratio, e.bandwidth_mbps,
            e.dedicated, e.parameters, CASE WHEN e.outlier THEN 'outlier' ELSE 'new' END,
            e.resource_class, e.site_id, e.failure_kind = 'memory'
        FROM new_execution AS e JOIN model AS m ON m.tenant = e.tenant
            AND m.application_id = e.application_id
            AND learns_site(m.kind, m.site_id, e.site_id)
            AND m.phase_index = e.phase_index) AS learnt
    WHERE value IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION execution_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(key)
    FROM (SELECT DISTINCT model_lock_key(tenant, application_id) AS key
          FROM old_execution ORDER BY 1) AS keys;
    WITH forgotten AS (
        DELETE FROM model_sample AS s USING old_execution AS e, model AS m
        WHERE s.tenant = e.tenant AND s.execution_id = e.execution_id
            AND m.tenant = s.tenant AND m.model_id = s.model_id
            AND m.application_id = e.application_id AND m.phase_index = e.phase_index
        RETURNING s.tenant, s.model_id, s.version)
    UPDATE model AS m SET train_requested = true, retry_at = NULL,
        generation = m.generation + 1, updated_at = now()
    FROM (SELECT DISTINCT tenant, model_id FROM forgotten WHERE version IS NOT NULL
          ORDER BY 1, 2) AS f
    WHERE m.tenant = f.tenant AND m.model_id = f.model_id;
    UPDATE progress_task AS t SET run_time_s = NULL, scored_at = NULL
    FROM old_execution AS e
    WHERE t.tenant = e.tenant AND t.task_id = e.execution_id AND e.phase_index = -1;
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;
    INSERT INTO model_sample (tenant, model_id, execution_id, started_at, run_time_s,
        problem_size, processors, cpu_available_ratio, bandwidth_mbps, dedicated,
        parameters, verdict, resource_class, site_id, is_bound)
    SELECT * FROM (
        SELECT m.tenant, m.model_id, e.execution_id, e.started_at,
            learnt_value(m.target, e.ignored, e.exit_code, e.failure_kind, e.run_time_s,
                e.memory_peak_bytes, e.memory_requested_bytes, e.disk_peak_bytes, e.cpus_used) AS value,
            e.problem_size, e.processors, e.cpu_available_ratio, e.bandwidth_mbps,
            e.dedicated, e.parameters, CASE WHEN e.outlier THEN 'outlier' ELSE 'new' END,
            e.resource_class, e.site_id, e.failure_kind = 'memory'
        FROM new_execution AS e JOIN model AS m ON m.tenant = e.tenant
            AND m.application_id = e.application_id
            AND learns_site(m.kind, m.site_id, e.site_id)
            AND m.phase_index = e.phase_index) AS learnt
    WHERE value IS NOT NULL
    ON CONFLICT DO NOTHING;
    UPDATE progress_task AS t
    SET run_time_s = e.run_time_s, scored_at = NULL,
        application_id = coalesce(t.application_id, e.application_id)
    FROM new_execution AS e
    WHERE t.tenant = e.tenant AND t.task_id = e.execution_id AND e.phase_index = -1
        AND coalesce(e.exit_code, 0) = 0;
    RETURN NULL;
END
$$;
