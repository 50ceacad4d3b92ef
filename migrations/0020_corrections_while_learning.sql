-- A correction that comes while what it corrects is being learnt is learnt afterwards.
--
-- Models: whoever learns reads a model and its samples, computes without a transaction, and
-- writes only while the model has the generation that was read. So a correction raises the
-- generation of each model that has a sample of the run, learnt or not: somebody may be at it
-- with the old values. Models are locked before their samples, as by who writes a version;
-- otherwise each would wait for the other, and samples that were marked meanwhile would count
-- as not learnt. The triggers' names have them run before execution_changed and
-- execution_removed, which take the samples away.
--
-- A model that had learnt what is corrected is marked: it begins anew from its other runs,
-- because it remembers those that it has learnt.
--
-- Tasks: a score is kept only if the task has the revision that was read.

ALTER TABLE progress_task ADD COLUMN revision integer NOT NULL DEFAULT 0;

COMMENT ON COLUMN progress_task.revision IS 'Counted up when what it is scored by has changed; no unit';

ALTER TABLE model ADD COLUMN corrected boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN model.corrected IS 'Whether its version knows a run that has been corrected or removed since';

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

CREATE FUNCTION execution_correction_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(key)
    FROM (SELECT DISTINCT model_lock_key(tenant, application_id) AS key
          FROM old_execution ORDER BY 1) AS keys;
    WITH concerned AS MATERIALIZED (
        SELECT m.tenant, m.model_id, EXISTS (
            SELECT FROM old_execution AS e JOIN model_sample AS s
                ON s.tenant = e.tenant AND s.execution_id = e.execution_id
            WHERE e.tenant = m.tenant AND e.application_id = m.application_id
                AND e.phase_index = m.phase_index AND s.model_id = m.model_id
                AND s.version > 0) AS knows
        FROM model AS m
        WHERE EXISTS (
            SELECT FROM old_execution AS e JOIN model_sample AS s
                ON s.tenant = e.tenant AND s.execution_id = e.execution_id
            WHERE e.tenant = m.tenant AND e.application_id = m.application_id
                AND e.phase_index = m.phase_index AND s.model_id = m.model_id)
        ORDER BY m.tenant, m.model_id FOR NO KEY UPDATE)
    UPDATE model AS m SET generation = m.generation + 1, retry_at = NULL, updated_at = now(),
        corrected = m.corrected OR c.knows
    FROM concerned AS c WHERE m.tenant = c.tenant AND m.model_id = c.model_id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION execution_correction_begins IS 'Locks the models that may be learning what is corrected, and tells who learns them';

CREATE TRIGGER execution_before_changed AFTER UPDATE ON execution
    REFERENCING OLD TABLE AS old_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_correction_begins();
CREATE TRIGGER execution_before_removed AFTER DELETE ON execution
    REFERENCING OLD TABLE AS old_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_correction_begins();
