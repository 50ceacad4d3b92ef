-- What was learnt from executions follows when they are corrected or removed: models forget
-- the old run, get the new one, and are trained anew; tasks of the run's name lose its run
-- time and are scored anew. An update that changes nothing touches no row, and so nothing.

SELECT remove_doubles('execution', 'execution_id, phase_index', 'started_at', 'true');

CREATE FUNCTION execution_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
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
        parameters, verdict)
    SELECT m.tenant, m.model_id, e.execution_id, e.started_at, e.run_time_s,
        e.problem_size, e.processors, e.cpu_available_ratio, e.bandwidth_mbps,
        e.dedicated, e.parameters, CASE WHEN e.outlier THEN 'outlier' ELSE 'new' END
    FROM new_execution AS e JOIN model AS m ON m.tenant = e.tenant
        AND m.application_id = e.application_id
        AND coalesce(m.site_id, '') = coalesce(e.site_id, '')
        AND m.phase_index = e.phase_index
    WHERE coalesce(e.exit_code, 0) = 0
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

COMMENT ON FUNCTION execution_corrected IS 'Takes corrected and removed executions from models and tasks, and gives them the corrected ones';

CREATE TRIGGER execution_changed AFTER UPDATE ON execution
    REFERENCING OLD TABLE AS old_execution NEW TABLE AS new_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_corrected();
CREATE TRIGGER execution_removed AFTER DELETE ON execution
    REFERENCING OLD TABLE AS old_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_corrected();
