-- A report of progress is of a task at a run time: its natural key. Of doubles the one that
-- came last stays, because that one counted.

SELECT remove_doubles('progress_sample', 'task_id, elapsed_s', 'received_at',
    't.received_at DESC, t.row_id DESC');
CREATE INDEX progress_sample_key ON progress_sample (tenant, task_id, elapsed_s);

-- A task is what its reports make of it.
CREATE FUNCTION progress_sample_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE progress_task AS t
    SET application_id = coalesce(known.application_id, t.application_id),
        actual_ref_s = known.actual_ref_s, scored_at = NULL
    FROM (SELECT DISTINCT tenant, task_id FROM old_sample) AS changed
    CROSS JOIN LATERAL (
        SELECT (array_agg(application_id ORDER BY received_at DESC, row_id DESC)
                FILTER (WHERE application_id IS NOT NULL))[1] AS application_id,
            coalesce(max(actual_ref_s),
                max(extrapolated_ref_s) FILTER (WHERE progress_pct >= 100)) AS actual_ref_s
        FROM progress_sample AS s
        WHERE s.tenant = changed.tenant AND s.task_id = changed.task_id) AS known
    WHERE t.tenant = changed.tenant AND t.task_id = changed.task_id;
    DELETE FROM progress_task AS t USING old_sample AS gone
    WHERE t.tenant = gone.tenant AND t.task_id = gone.task_id
        AND NOT EXISTS (SELECT FROM progress_sample AS s
                        WHERE s.tenant = t.tenant AND s.task_id = t.task_id);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION progress_sample_corrected IS 'Makes tasks anew of the reports that are left';

CREATE TRIGGER progress_sample_changed AFTER UPDATE ON progress_sample
    REFERENCING OLD TABLE AS old_sample
    FOR EACH STATEMENT EXECUTE FUNCTION progress_sample_corrected();
CREATE TRIGGER progress_sample_removed AFTER DELETE ON progress_sample
    REFERENCING OLD TABLE AS old_sample
    FOR EACH STATEMENT EXECUTE FUNCTION progress_sample_corrected();
