-- Simulations: what was uploaded for them, and those that run without a client.
-- The row of a simulation is all there is of it: every replica can answer for it,
-- and every replica takes up what another one has left.

CREATE TABLE workload (
    tenant text COLLATE "C" NOT NULL,
    workload_id text COLLATE "C" NOT NULL,
    format text COLLATE "C" NOT NULL,
    document bytea NOT NULL,
    line_count bigint NOT NULL,
    record_count bigint NOT NULL,
    skipped_count bigint NOT NULL,
    summary text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, workload_id)
);

COMMENT ON TABLE workload IS 'An uploaded list of jobs for simulations; one row each';
COMMENT ON COLUMN workload.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workload.workload_id IS 'Its name; no unit';
COMMENT ON COLUMN workload.format IS 'swf; no unit';
COMMENT ON COLUMN workload.document IS 'The text as it was given; no unit';
COMMENT ON COLUMN workload.line_count IS 'Number of lines of the document';
COMMENT ON COLUMN workload.record_count IS 'Number of jobs that were understood';
COMMENT ON COLUMN workload.skipped_count IS 'Number of lines that were not used';
COMMENT ON COLUMN workload.summary IS 'What was found when it was read, JSON; no unit';
COMMENT ON COLUMN workload.created_at IS 'Instant when it was stored';

CREATE TABLE failure_trace (
    tenant text COLLATE "C" NOT NULL,
    failure_trace_id text COLLATE "C" NOT NULL,
    format text COLLATE "C" NOT NULL,
    document bytea NOT NULL,
    line_count bigint NOT NULL,
    record_count bigint NOT NULL,
    skipped_count bigint NOT NULL,
    summary text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, failure_trace_id)
);

COMMENT ON TABLE failure_trace IS 'An uploaded list of failures for simulations; one row each';
COMMENT ON COLUMN failure_trace.tenant IS 'Owner; no unit';
COMMENT ON COLUMN failure_trace.failure_trace_id IS 'Its name; no unit';
COMMENT ON COLUMN failure_trace.format IS 'lanl_cfdr or fta; no unit';
COMMENT ON COLUMN failure_trace.document IS 'The text as it was given; no unit';
COMMENT ON COLUMN failure_trace.line_count IS 'Number of lines of the document';
COMMENT ON COLUMN failure_trace.record_count IS 'Number of failures that were understood';
COMMENT ON COLUMN failure_trace.skipped_count IS 'Number of lines that were not used';
COMMENT ON COLUMN failure_trace.summary IS 'What was found when it was read, JSON; no unit';
COMMENT ON COLUMN failure_trace.created_at IS 'Instant when it was stored';

CREATE TABLE simulation (
    tenant text COLLATE "C" NOT NULL,
    simulation_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    name text,
    route text COLLATE "C" NOT NULL,
    request text NOT NULL,
    request_sha256 bytea NOT NULL,
    snapshot_document text,
    status text COLLATE "C" NOT NULL,
    progress_ratio double precision NOT NULL,
    event_count bigint NOT NULL,
    run_count bigint NOT NULL,
    owner_id uuid,
    lease_until timestamptz,
    attempt_count bigint NOT NULL,
    cancel_requested boolean NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    result text,
    error text,
    PRIMARY KEY (tenant, simulation_id)
);

COMMENT ON TABLE simulation IS 'A simulation that runs without a client; one row each';
COMMENT ON COLUMN simulation.tenant IS 'Owner; no unit';
COMMENT ON COLUMN simulation.simulation_id IS 'Its name; no unit';
COMMENT ON COLUMN simulation.created_at IS 'Instant when it was asked for';
COMMENT ON COLUMN simulation.name IS 'The caller''s name of the scenario; null: none; no unit';
COMMENT ON COLUMN simulation.route IS 'Path template of the endpoint that answers it; no unit';
COMMENT ON COLUMN simulation.request IS 'The request body as it came; no unit';
COMMENT ON COLUMN simulation.request_sha256 IS 'SHA-256 of the request, 32 bytes';
COMMENT ON COLUMN simulation.snapshot_document IS 'The stored snapshot that the request named, as it was then; null: none; no unit';
COMMENT ON COLUMN simulation.status IS 'queued, running, done, cut, cancelled or failed; no unit';
COMMENT ON COLUMN simulation.progress_ratio IS 'Share of the work that is done, 0 to 1';
COMMENT ON COLUMN simulation.event_count IS 'Number of events executed so far';
COMMENT ON COLUMN simulation.run_count IS 'Number of runs that are complete for every label';
COMMENT ON COLUMN simulation.owner_id IS 'The process that runs it; null: nobody; no unit';
COMMENT ON COLUMN simulation.lease_until IS 'Instant from which others may take it over unless it is renewed; null: nobody runs it';
COMMENT ON COLUMN simulation.attempt_count IS 'Number of times that it was taken up';
COMMENT ON COLUMN simulation.cancel_requested IS 'Whether the caller wants it to stop';
COMMENT ON COLUMN simulation.started_at IS 'Instant when it was last taken up; null: never';
COMMENT ON COLUMN simulation.finished_at IS 'Instant when it ended; null: not yet';
COMMENT ON COLUMN simulation.result IS 'The answer, JSON; null: none; no unit';
COMMENT ON COLUMN simulation.error IS 'Why it failed, JSON in the form of RFC 9457; null: it did not; no unit';

CREATE INDEX simulation_created ON simulation (tenant, created_at, simulation_id);
CREATE INDEX simulation_waiting ON simulation (created_at) WHERE finished_at IS NULL;
CREATE INDEX simulation_finished ON simulation (finished_at) WHERE finished_at IS NOT NULL;

-- Checkpoints that were asked for, and what they cost: partitioned by month as the
-- tables of 0001.

CREATE SEQUENCE checkpoint_log_row_id CACHE 1000;

CREATE TABLE checkpoint_log (
    tenant text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C",
    requested_at timestamptz NOT NULL,
    action text COLLATE "C" NOT NULL,
    interval_before_s double precision,
    interval_after_s double precision,
    overhead_s double precision,
    stored_after_s double precision,
    restart_s double precision,
    bytes double precision,
    row_id bigint NOT NULL DEFAULT nextval('checkpoint_log_row_id')
) PARTITION BY RANGE (requested_at);

COMMENT ON TABLE checkpoint_log IS 'One request of a job for a checkpoint; one row each';
COMMENT ON COLUMN checkpoint_log.tenant IS 'Owner; no unit';
COMMENT ON COLUMN checkpoint_log.job_id IS 'The job; no unit';
COMMENT ON COLUMN checkpoint_log.application_id IS 'What it runs: jobs of one application cost alike; no unit';
COMMENT ON COLUMN checkpoint_log.resource_id IS 'Where it ran; null: not known; no unit';
COMMENT ON COLUMN checkpoint_log.requested_at IS 'Instant of the request, to the microsecond';
COMMENT ON COLUMN checkpoint_log.action IS 'take or omit; no unit';
COMMENT ON COLUMN checkpoint_log.interval_before_s IS 'Interval in force before it, in seconds; null: not known';
COMMENT ON COLUMN checkpoint_log.interval_after_s IS 'Interval in force after it, in seconds; null: not known';
COMMENT ON COLUMN checkpoint_log.overhead_s IS 'Time that the job stood still, in seconds; null: not known';
COMMENT ON COLUMN checkpoint_log.stored_after_s IS 'Time from then until the checkpoint was safe, in seconds; null: not known';
COMMENT ON COLUMN checkpoint_log.restart_s IS 'Time that a restart from it took, in seconds; null: none, or not known';
COMMENT ON COLUMN checkpoint_log.bytes IS 'Size of the checkpoint in bytes; null: not known';
COMMENT ON COLUMN checkpoint_log.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE UNIQUE INDEX checkpoint_log_request ON checkpoint_log (tenant, job_id, requested_at);
CREATE INDEX checkpoint_log_application
    ON checkpoint_log (tenant, application_id, requested_at);
CREATE TABLE checkpoint_log_default PARTITION OF checkpoint_log DEFAULT;

-- What a decision looked up besides the snapshot that it named.
ALTER TABLE decision ADD COLUMN history_document text;

COMMENT ON COLUMN decision.history_document IS 'What was looked up for it, as it was then, JSON: the present, stored failures, costs of checkpoints; null: nothing; no unit';
