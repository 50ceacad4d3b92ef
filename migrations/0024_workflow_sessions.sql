-- Runs of workflows: what is asked, what has happened, and the plan in force.

CREATE TABLE workflow_session (
    tenant text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C" NOT NULL,
    snapshot_id text COLLATE "C",
    definition text NOT NULL,
    definition_seq bigint NOT NULL,
    revision bigint NOT NULL,
    lease_revision bigint NOT NULL DEFAULT 0,
    plan text,
    plan_schedule text,
    plan_revision bigint NOT NULL DEFAULT 0,
    planned_at timestamptz,
    due_at timestamptz,
    seen_leases bigint NOT NULL DEFAULT 0,
    expires_after_s double precision NOT NULL,
    created_at timestamptz NOT NULL,
    defined_at timestamptz NOT NULL,
    last_event_at timestamptz,
    expires_at timestamptz NOT NULL,
    event_count bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, session_id)
);

COMMENT ON TABLE workflow_session IS 'Runs of workflows, one row each, until some days after they have expired';
COMMENT ON COLUMN workflow_session.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workflow_session.session_id IS 'Its name, chosen by the client; no unit';
COMMENT ON COLUMN workflow_session.application_id IS 'Under which its run times are learnt; no unit';
COMMENT ON COLUMN workflow_session.snapshot_id IS 'The stored snapshot that it runs on; null: its definition has one; no unit';
COMMENT ON COLUMN workflow_session.definition IS 'JSON as it was sent; no unit';
COMMENT ON COLUMN workflow_session.definition_seq IS 'seq of the definition, no unit';
COMMENT ON COLUMN workflow_session.revision IS 'Greatest seq so far, no unit';
COMMENT ON COLUMN workflow_session.lease_revision IS 'Number of changes of what is granted, no unit';
COMMENT ON COLUMN workflow_session.plan IS 'The plan in force, JSON; null: none; no unit';
COMMENT ON COLUMN workflow_session.plan_schedule IS 'Its schedule and unplaced tasks, JSON; null: none; no unit';
COMMENT ON COLUMN workflow_session.plan_revision IS 'Number of plans so far, no unit';
COMMENT ON COLUMN workflow_session.planned_at IS 'Instant from which the plan counts its seconds';
COMMENT ON COLUMN workflow_session.due_at IS 'Instant at which the answer may change without an event; null: not known';
COMMENT ON COLUMN workflow_session.seen_leases IS 'Version of snapshot and leases that the plan was made from, no unit';
COMMENT ON COLUMN workflow_session.expires_after_s IS 'Time from the last event to the end, seconds';
COMMENT ON COLUMN workflow_session.created_at IS 'Instant when it was made';
COMMENT ON COLUMN workflow_session.defined_at IS 'Instant when its definition was last replaced';
COMMENT ON COLUMN workflow_session.last_event_at IS 'Instant when the last event came; null: none';
COMMENT ON COLUMN workflow_session.expires_at IS 'Instant from which it counts no more';
COMMENT ON COLUMN workflow_session.event_count IS 'Number of its events, no unit';

CREATE INDEX workflow_session_age ON workflow_session (expires_at);

CREATE TABLE workflow_session_task (
    tenant text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    first_seq bigint NOT NULL,
    seq bigint NOT NULL,
    document text,
    removed_seq bigint,
    PRIMARY KEY (tenant, session_id, task_id),
    FOREIGN KEY (tenant, session_id) REFERENCES workflow_session ON DELETE CASCADE
);

COMMENT ON TABLE workflow_session_task IS 'Tasks that were added to a run, replaced or removed later';
COMMENT ON COLUMN workflow_session_task.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workflow_session_task.session_id IS 'Its run; no unit';
COMMENT ON COLUMN workflow_session_task.task_id IS 'Its name; no unit';
COMMENT ON COLUMN workflow_session_task.first_seq IS 'seq with which it came, no unit';
COMMENT ON COLUMN workflow_session_task.seq IS 'seq of its last change, no unit';
COMMENT ON COLUMN workflow_session_task.document IS 'JSON of the task; null: as the definition has it; no unit';
COMMENT ON COLUMN workflow_session_task.removed_seq IS 'seq with which it was removed; null: it was not; no unit';

CREATE TABLE workflow_session_event (
    tenant text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    received_at timestamptz NOT NULL,
    kind bigint NOT NULL,
    observed_at timestamptz NOT NULL,
    task_id text COLLATE "C",
    attempt bigint NOT NULL,
    resource_id text COLLATE "C",
    running_id text,
    run_time_s double precision,
    memory_peak_bytes double precision,
    output_bytes double precision,
    exit_code double precision,
    failure_kind text,
    final boolean NOT NULL,
    progress_ratio double precision,
    mips_total double precision,
    PRIMARY KEY (tenant, session_id, event_id),
    FOREIGN KEY (tenant, session_id) REFERENCES workflow_session ON DELETE CASCADE
);

COMMENT ON TABLE workflow_session_event IS 'What was reported of runs of workflows';
COMMENT ON COLUMN workflow_session_event.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workflow_session_event.session_id IS 'Its run; no unit';
COMMENT ON COLUMN workflow_session_event.event_id IS 'Its name, chosen by the sender; no unit';
COMMENT ON COLUMN workflow_session_event.seq IS 'Order of storing within the run, no unit';
COMMENT ON COLUMN workflow_session_event.received_at IS 'Instant when it came';
COMMENT ON COLUMN workflow_session_event.kind IS 'Number of enum session_kind, no unit';
COMMENT ON COLUMN workflow_session_event.observed_at IS 'Instant when it happened, by the sender''s clock';
COMMENT ON COLUMN workflow_session_event.task_id IS 'The task; null: it is of a resource; no unit';
COMMENT ON COLUMN workflow_session_event.attempt IS 'Number of the attempt, from 1; no unit';
COMMENT ON COLUMN workflow_session_event.resource_id IS 'Where; null: not said; no unit';
COMMENT ON COLUMN workflow_session_event.running_id IS 'Its id among what runs of the snapshot; null: not said; no unit';
COMMENT ON COLUMN workflow_session_event.run_time_s IS 'Run time, seconds; null: not said';
COMMENT ON COLUMN workflow_session_event.memory_peak_bytes IS 'Largest use of memory, bytes; null: not said';
COMMENT ON COLUMN workflow_session_event.output_bytes IS 'Size of what it made, bytes; null: not said';
COMMENT ON COLUMN workflow_session_event.exit_code IS 'Exit code, no unit; null: not said';
COMMENT ON COLUMN workflow_session_event.failure_kind IS 'What it failed of; null: not said; no unit';
COMMENT ON COLUMN workflow_session_event.final IS 'Whether it is not to be tried again, no unit';
COMMENT ON COLUMN workflow_session_event.progress_ratio IS 'Share of its work that is done, 0 to 1; null: not said';
COMMENT ON COLUMN workflow_session_event.mips_total IS 'Speed of the resource from then on, MIPS; null: not said';

CREATE UNIQUE INDEX workflow_session_event_seq ON workflow_session_event (tenant, session_id, seq);
CREATE INDEX workflow_session_event_task ON workflow_session_event (tenant, session_id, task_id);

CREATE TABLE workflow_session_grant (
    tenant text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    granted_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    run_time_s double precision NOT NULL,
    PRIMARY KEY (tenant, session_id, task_id),
    FOREIGN KEY (tenant, session_id) REFERENCES workflow_session ON DELETE CASCADE
);

COMMENT ON TABLE workflow_session_grant IS 'Tasks that somebody was told to start and has not started yet';
COMMENT ON COLUMN workflow_session_grant.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workflow_session_grant.session_id IS 'Its run; no unit';
COMMENT ON COLUMN workflow_session_grant.task_id IS 'The task; no unit';
COMMENT ON COLUMN workflow_session_grant.attempt IS 'Number of the attempt, from 1; no unit';
COMMENT ON COLUMN workflow_session_grant.resource_id IS 'Where it is to start; no unit';
COMMENT ON COLUMN workflow_session_grant.holder IS 'Who was told; no unit';
COMMENT ON COLUMN workflow_session_grant.granted_at IS 'Instant of that';
COMMENT ON COLUMN workflow_session_grant.expires_at IS 'Instant from which anybody may start it';
COMMENT ON COLUMN workflow_session_grant.run_time_s IS 'Expected run time there, seconds';
