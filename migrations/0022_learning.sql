-- What else is known of runs, models of other targets, and runs of all sites for models of
-- the kind auto that name none.

ALTER TABLE execution
    ADD COLUMN memory_requested_bytes double precision,
    ADD COLUMN disk_peak_bytes double precision,
    ADD COLUMN cpus_used double precision,
    ADD COLUMN attempt integer,
    ADD COLUMN failure_kind text COLLATE "C" NOT NULL DEFAULT 'none',
    ADD COLUMN resource_class text COLLATE "C",
    ADD COLUMN ignored boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN execution.memory_requested_bytes IS 'Memory that was asked for, in bytes; null: not known';
COMMENT ON COLUMN execution.disk_peak_bytes IS 'Largest disk space in use, in bytes; null: not known';
COMMENT ON COLUMN execution.cpus_used IS 'Mean number of CPUs in use; null: not known';
COMMENT ON COLUMN execution.attempt IS 'Which attempt it was, from 1; null: the first';
COMMENT ON COLUMN execution.failure_kind IS 'none, error, memory, disk, time_limit, host or cancelled; no unit';
COMMENT ON COLUMN execution.resource_class IS 'Type of the machine; null: not known; no unit';
COMMENT ON COLUMN execution.ignored IS 'Whether no model is to learn it';

ALTER TABLE execution DISABLE TRIGGER execution_changed;
UPDATE execution SET failure_kind = 'error' WHERE exit_code <> 0;
ALTER TABLE execution ENABLE TRIGGER execution_changed;

ALTER TABLE model ADD COLUMN target text COLLATE "C" NOT NULL DEFAULT 'run_time_s';

COMMENT ON COLUMN model.target IS 'What it predicts: run_time_s or memory_peak_bytes; no unit';

DROP INDEX model_subject;
CREATE UNIQUE INDEX model_subject
    ON model (tenant, application_id, coalesce(site_id, ''), phase_index, kind, target);

ALTER TABLE model_sample
    ADD COLUMN resource_class text COLLATE "C",
    ADD COLUMN site_id text COLLATE "C",
    ADD COLUMN is_bound boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN model_sample.run_time_s IS 'Run time in seconds; of a model of another target that, in its unit';
COMMENT ON COLUMN model_sample.resource_class IS 'Type of the machine; null: not known; no unit';
COMMENT ON COLUMN model_sample.site_id IS 'Where it ran; null: not known; no unit';
COMMENT ON COLUMN model_sample.is_bound IS 'Whether the target was at least that: the run failed for it';

-- Of runs the value that a model of a target learns; null: none.
CREATE FUNCTION learnt_value(target text, ignored boolean, exit_code integer,
    failure_kind text, run_time_s double precision, memory_peak_bytes double precision,
    memory_requested_bytes double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN ignored THEN NULL
        WHEN target = 'memory_peak_bytes' AND failure_kind = 'memory'
            THEN nullif(greatest(memory_requested_bytes, 0), 0)
        WHEN failure_kind <> 'none' OR coalesce(exit_code, 0) <> 0 THEN NULL
        WHEN target = 'memory_peak_bytes' THEN nullif(greatest(memory_peak_bytes, 0), 0)
        ELSE run_time_s
    END
$$;

COMMENT ON FUNCTION learnt_value IS 'What a model of a target learns of a run';

-- Does a model learn the runs of a site?
CREATE FUNCTION learns_site(kind text, model_site text, site text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT kind = 'auto' AND model_site IS NULL
        OR coalesce(model_site, '') = coalesce(site, '')
$$;

COMMENT ON FUNCTION learns_site IS 'Whether a model learns the runs of a site';

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
                e.memory_peak_bytes, e.memory_requested_bytes) AS value,
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
                e.memory_peak_bytes, e.memory_requested_bytes) AS value,
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

-- How much faster machines are than each other, over all applications of a tenant: what
-- models of the kind auto take off the logarithms of run times.

CREATE TABLE machine_effect (
    tenant text COLLATE "C" NOT NULL,
    machine text COLLATE "C" NOT NULL,
    effect double precision NOT NULL,
    run_count bigint NOT NULL,
    PRIMARY KEY (tenant, machine)
);

COMMENT ON TABLE machine_effect IS 'The effect of a type of machine on run times; one row each';
COMMENT ON COLUMN machine_effect.tenant IS 'Owner; no unit';
COMMENT ON COLUMN machine_effect.machine IS 'resource_class of its runs, or the site_id of those that have none; no unit';
COMMENT ON COLUMN machine_effect.effect IS 'Logarithm of the factor that run times have there; no unit';
COMMENT ON COLUMN machine_effect.run_count IS 'Number of runs that it comes from';

CREATE TABLE machine_effect_made (
    tenant text COLLATE "C" PRIMARY KEY,
    made_at timestamptz NOT NULL
);

COMMENT ON TABLE machine_effect_made IS 'When the effects of a tenant were worked out; one row each';
COMMENT ON COLUMN machine_effect_made.tenant IS 'Owner; no unit';
COMMENT ON COLUMN machine_effect_made.made_at IS 'Instant of the last time';
