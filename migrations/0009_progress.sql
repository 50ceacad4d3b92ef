-- What running tasks said of their progress, and what those that finished have taught:
-- predictions of remaining time read both.

CREATE SEQUENCE progress_sample_row_id CACHE 1000;

CREATE TABLE progress_sample (
    tenant text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C",
    elapsed_s double precision NOT NULL,
    progress_pct double precision NOT NULL,
    mips_total double precision,
    mips_external double precision,
    job_count double precision,
    work_done_ref_s double precision,
    extrapolated_ref_s double precision,
    actual_ref_s double precision,
    received_at timestamptz NOT NULL DEFAULT now(),
    row_id bigint NOT NULL DEFAULT nextval('progress_sample_row_id')
) PARTITION BY RANGE (received_at);

COMMENT ON TABLE progress_sample IS 'One report of a task about its progress; one row each';
COMMENT ON COLUMN progress_sample.tenant IS 'Owner; no unit';
COMMENT ON COLUMN progress_sample.task_id IS 'The task; no unit';
COMMENT ON COLUMN progress_sample.application_id IS 'What runs; null: not said; no unit';
COMMENT ON COLUMN progress_sample.elapsed_s IS 'Run time of the task so far, in seconds';
COMMENT ON COLUMN progress_sample.progress_pct IS 'Share of the task that is done, in percent';
COMMENT ON COLUMN progress_sample.mips_total IS 'Speed of its resource, relative to the reference machine; null: 1';
COMMENT ON COLUMN progress_sample.mips_external IS 'Part of it that load from outside takes, in the same unit; null: 0';
COMMENT ON COLUMN progress_sample.job_count IS 'Number of tasks that share the rest; null: 1';
COMMENT ON COLUMN progress_sample.work_done_ref_s IS 'Work done so far, in seconds of the reference machine; null: not known';
COMMENT ON COLUMN progress_sample.extrapolated_ref_s IS 'Work of the whole task by this report alone, in seconds of the reference machine; null: none';
COMMENT ON COLUMN progress_sample.actual_ref_s IS 'Work that the task was, in seconds of the reference machine; null: not finished, or not known';
COMMENT ON COLUMN progress_sample.received_at IS 'Instant when it was stored';
COMMENT ON COLUMN progress_sample.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX progress_sample_task ON progress_sample (tenant, task_id, received_at);
CREATE TABLE progress_sample_default PARTITION OF progress_sample DEFAULT;

CREATE TABLE progress_task (
    tenant text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C",
    updated_at timestamptz NOT NULL,
    actual_ref_s double precision,
    run_time_s double precision,
    scored_at timestamptz,
    fit_error_10 double precision,
    fit_error_20 double precision,
    fit_error_50 double precision,
    extrapolation_error_10 double precision,
    extrapolation_error_20 double precision,
    extrapolation_error_50 double precision,
    estimate_ratio_05 double precision,
    estimate_ratio_10 double precision,
    estimate_ratio_20 double precision,
    estimate_ratio_50 double precision,
    curve text,
    amplitude_ratio double precision,
    decay_ratio double precision,
    PRIMARY KEY (tenant, task_id)
);

COMMENT ON TABLE progress_task IS 'A task that reports its progress, and how well it could be predicted; one row each';
COMMENT ON COLUMN progress_task.tenant IS 'Owner; no unit';
COMMENT ON COLUMN progress_task.task_id IS 'The task; no unit';
COMMENT ON COLUMN progress_task.application_id IS 'What runs; null: not said; no unit';
COMMENT ON COLUMN progress_task.updated_at IS 'Instant of its last report';
COMMENT ON COLUMN progress_task.actual_ref_s IS 'Work that it was, as reported, in seconds of the reference machine; null: not finished, or not known';
COMMENT ON COLUMN progress_task.run_time_s IS 'Run time of the execution of its name, in seconds; null: none';
COMMENT ON COLUMN progress_task.scored_at IS 'Instant when the columns that follow were worked out; null: not yet';
COMMENT ON COLUMN progress_task.fit_error_10 IS 'Relative error of the fit with 10 % of the work done; null: no report by then; no unit';
COMMENT ON COLUMN progress_task.fit_error_20 IS 'The same with 20 %; no unit';
COMMENT ON COLUMN progress_task.fit_error_50 IS 'The same with 50 %; no unit';
COMMENT ON COLUMN progress_task.extrapolation_error_10 IS 'Relative error of the extrapolation with 10 % of the work done; null: no report by then; no unit';
COMMENT ON COLUMN progress_task.extrapolation_error_20 IS 'The same with 20 %; no unit';
COMMENT ON COLUMN progress_task.extrapolation_error_50 IS 'The same with 50 %; no unit';
COMMENT ON COLUMN progress_task.estimate_ratio_05 IS 'Extrapolation over actual work in the first report of 5 % or more; null: none; no unit';
COMMENT ON COLUMN progress_task.estimate_ratio_10 IS 'The same of 10 % or more; no unit';
COMMENT ON COLUMN progress_task.estimate_ratio_20 IS 'The same of 20 % or more; no unit';
COMMENT ON COLUMN progress_task.estimate_ratio_50 IS 'The same of 50 % or more; no unit';
COMMENT ON COLUMN progress_task.curve IS 'Function that all its reports followed, psi1 or psi2; null: none; no unit';
COMMENT ON COLUMN progress_task.amplitude_ratio IS 'Amplitude of the function over its limit; no unit';
COMMENT ON COLUMN progress_task.decay_ratio IS 'Decay of the function over the whole work; no unit';

CREATE INDEX progress_task_application ON progress_task (tenant, application_id, scored_at);
CREATE INDEX progress_task_updated ON progress_task (updated_at);
CREATE INDEX progress_task_pending ON progress_task (tenant)
    WHERE scored_at IS NULL AND (actual_ref_s IS NOT NULL OR run_time_s IS NOT NULL);

-- The last report of a task, at 100 %, says what its work was. In the order of the key, so
-- that two statements cannot wait for each other.
CREATE FUNCTION progress_sample_to_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO progress_task AS known
        (tenant, task_id, application_id, updated_at, actual_ref_s)
    SELECT tenant, task_id, max(application_id), max(received_at), coalesce(
        max(actual_ref_s), max(extrapolated_ref_s) FILTER (WHERE progress_pct >= 100))
    FROM new_sample GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant, task_id) DO UPDATE SET
        application_id = coalesce(excluded.application_id, known.application_id),
        updated_at = greatest(excluded.updated_at, known.updated_at),
        actual_ref_s = coalesce(excluded.actual_ref_s, known.actual_ref_s),
        scored_at = CASE WHEN excluded.actual_ref_s IS NULL THEN known.scored_at END;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION progress_sample_to_task IS 'Keeps the tasks of new reports';

CREATE TRIGGER progress_sample_to_task AFTER INSERT ON progress_sample
    REFERENCING NEW TABLE AS new_sample
    FOR EACH STATEMENT EXECUTE FUNCTION progress_sample_to_task();

-- An execution of the task's name ends it too.
CREATE FUNCTION execution_to_progress_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE progress_task AS t
    SET run_time_s = e.run_time_s, scored_at = NULL,
        application_id = coalesce(t.application_id, e.application_id)
    FROM new_execution AS e
    WHERE t.tenant = e.tenant AND t.task_id = e.execution_id AND e.phase_index = -1
        AND coalesce(e.exit_code, 0) = 0;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION execution_to_progress_task IS 'Tells tasks how long the executions of their names ran';

CREATE TRIGGER execution_to_progress_task AFTER INSERT ON execution
    REFERENCING NEW TABLE AS new_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_to_progress_task();
