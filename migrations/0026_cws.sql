-- What nf-cws, a plugin of Nextflow, tells of the tasks of a run.

CREATE TABLE cws_run (
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    strategy text,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, run)
);

COMMENT ON TABLE cws_run IS 'Runs that were registered by nf-cws; one row each, until a day after the last word of them';
COMMENT ON COLUMN cws_run.tenant IS 'Whose key sent it; no unit';
COMMENT ON COLUMN cws_run.run IS 'Nextflow''s name of the run; no unit';
COMMENT ON COLUMN cws_run.strategy IS 'In which order it asks for its tasks; null: not said; no unit';
COMMENT ON COLUMN cws_run.updated_at IS 'Instant of the last call about it';

CREATE INDEX cws_run_age ON cws_run (updated_at);

CREATE TABLE cws_task (
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    task_id bigint NOT NULL,
    pod text COLLATE "C",
    class text COLLATE "C" NOT NULL,
    cpus double precision,
    memory_bytes double precision,
    input_bytes double precision,
    attempt bigint NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (tenant, run, task_id),
    FOREIGN KEY (tenant, run) REFERENCES cws_run ON DELETE CASCADE
);

COMMENT ON TABLE cws_task IS 'Tasks of registered runs; one row each';
COMMENT ON COLUMN cws_task.tenant IS 'Of its run; no unit';
COMMENT ON COLUMN cws_task.run IS 'Of its run; no unit';
COMMENT ON COLUMN cws_task.task_id IS 'Nextflow''s number of the task; no unit';
COMMENT ON COLUMN cws_task.pod IS 'Name of its pod; null: not said; no unit';
COMMENT ON COLUMN cws_task.class IS 'Its process; no unit';
COMMENT ON COLUMN cws_task.cpus IS 'CPUs that it asks for; null: not said';
COMMENT ON COLUMN cws_task.memory_bytes IS 'Memory that it asks for, bytes; null: not said';
COMMENT ON COLUMN cws_task.input_bytes IS 'Size of its input files, bytes; null: not said';
COMMENT ON COLUMN cws_task.attempt IS 'Which try it is, from 1; no unit';
COMMENT ON COLUMN cws_task.state IS 'UNSCHEDULED, SCHEDULED or FINISHED; no unit';

CREATE INDEX cws_task_pod ON cws_task (tenant, pod);
