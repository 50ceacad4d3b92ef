-- A correction that comes while what it corrects is being learnt is learnt afterwards.
--
-- Models: whoever learns reads a model and its samples, computes without a transaction, and
-- writes only while the model has the generation that was read. So a correction raises the
-- generation of each model that has a sample of the run, learnt or not: somebody may be at it
-- with the old values. Models are locked before their samples, as by who writes a version;
-- otherwise each would wait for the other, and samples that were marked meanwhile would count
-- as not learnt.
--
-- Tasks: a score is kept only if the task has the revision that was read.

ALTER TABLE progress_task ADD COLUMN revision integer NOT NULL DEFAULT 0;

COMMENT ON COLUMN progress_task.revision IS 'Counted up when what it is scored by has changed; no unit';

CREATE FUNCTION progress_task_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.scored_at IS NULL THEN
        new.revision := old.revision + 1;
    END IF;
    RETURN new;
END
$$;

COMMENT ON FUNCTION progress_task_changed IS 'Counts the changes of a task that is to be scored';

CREATE TRIGGER progress_task_changed BEFORE UPDATE ON progress_task
    FOR EACH ROW EXECUTE FUNCTION progress_task_changed();

CREATE OR REPLACE FUNCTION execution_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(key)
    FROM (SELECT DISTINCT model_lock_key(tenant, application_id) AS key
          FROM old_execution ORDER BY 1) AS keys;
    PERFORM 1 FROM model AS m
    WHERE (m.tenant, m.model_id) IN (
        SELECT s.tenant, s.model_id FROM model_sample AS s JOIN old_execution AS e
            ON s.tenant = e.tenant AND s.execution_id = e.execution_id
        JOIN model AS known ON known.tenant = s.tenant AND known.model_id = s.model_id
            AND known.application_id = e.application_id AND known.phase_index = e.phase_index)
    ORDER BY m.tenant, m.model_id FOR NO KEY UPDATE;
    WITH forgotten AS (
        DELETE FROM model_sample AS s USING old_execution AS e, model AS m
        WHERE s.tenant = e.tenant AND s.execution_id = e.execution_id
            AND m.tenant = s.tenant AND m.model_id = s.model_id
            AND m.application_id = e.application_id AND m.phase_index = e.phase_index
        RETURNING s.tenant, s.model_id, s.version)
    UPDATE model AS m SET train_requested = m.train_requested OR f.learnt, retry_at = NULL,
        generation = m.generation + 1, updated_at = now()
    FROM (SELECT tenant, model_id, bool_or(version IS NOT NULL) AS learnt FROM forgotten
          GROUP BY 1, 2 ORDER BY 1, 2) AS f
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
