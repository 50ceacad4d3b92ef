-- What other tools tell of a run once, and need again with each of its tasks.

CREATE TABLE ingest_run (
    tenant text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, run_id)
);

COMMENT ON TABLE ingest_run IS 'Runs of workflows of other tools, by what the tool said when they started; one row each, for 30 days';
COMMENT ON COLUMN ingest_run.tenant IS 'Whose key sent it; no unit';
COMMENT ON COLUMN ingest_run.run_id IS 'The name that the tool gives the run; no unit';
COMMENT ON COLUMN ingest_run.application_id IS 'The workflow that runs: first part of application_id of its executions; no unit';
COMMENT ON COLUMN ingest_run.expires_at IS 'Instant from which the row may be removed';

CREATE INDEX ingest_run_age ON ingest_run (expires_at);

COMMENT ON COLUMN api_key.scopes IS 'What it allows: sum of 1 decide, 2 ingest, 4 admin, 8 facade';
