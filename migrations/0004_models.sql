-- Performance models: what is fitted from the executions of an application, and the
-- executions that each model has learnt or is to learn.
--
-- An execution becomes a row of model_sample for each model that it concerns in the
-- transaction that stores it (the trigger below). Whoever then refines the model locks
-- its row, takes the samples that have no version yet, and writes the new version and
-- theirs in one transaction: each execution is learnt once, however many replicas there
-- are.

CREATE TABLE model (
    tenant text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    application_id text COLLATE "C" NOT NULL,
    site_id text COLLATE "C",
    phase_index integer NOT NULL DEFAULT -1,
    kind text COLLATE "C" NOT NULL,
    settings text NOT NULL,
    state text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    last_version bigint NOT NULL,
    generation bigint NOT NULL,
    train_requested boolean NOT NULL,
    note text,
    retry_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, model_id)
);

COMMENT ON TABLE model IS 'The model of an application (or of one of its phases) at a site; one row each';
COMMENT ON COLUMN model.tenant IS 'Owner; no unit';
COMMENT ON COLUMN model.model_id IS 'Its name; no unit';
COMMENT ON COLUMN model.application_id IS 'The application whose executions it learns; no unit';
COMMENT ON COLUMN model.site_id IS 'The site whose executions it learns; null: those that name none; no unit';
COMMENT ON COLUMN model.phase_index IS 'Phase whose executions it learns, counted from 0; -1: whole runs';
COMMENT ON COLUMN model.kind IS 'Kind of model; no unit';
COMMENT ON COLUMN model.settings IS 'How it is trained, JSON; no unit';
COMMENT ON COLUMN model.state IS 'untrained, trained or ported; no unit';
COMMENT ON COLUMN model.version IS 'Version that predicts; 0: none; no unit';
COMMENT ON COLUMN model.last_version IS 'Highest version so far; no unit';
COMMENT ON COLUMN model.generation IS 'Number of changes of this row, from 1';
COMMENT ON COLUMN model.train_requested IS 'Whether it is to be trained anew from all its samples';
COMMENT ON COLUMN model.note IS 'Why it could not be trained or refined the last time; null: it could; no unit';
COMMENT ON COLUMN model.retry_at IS 'Instant before which it is not tried again; null: at once';
COMMENT ON COLUMN model.created_at IS 'Instant when it was made';
COMMENT ON COLUMN model.updated_at IS 'Instant of the last change';

CREATE UNIQUE INDEX model_subject
    ON model (tenant, application_id, coalesce(site_id, ''), phase_index, kind);
CREATE INDEX model_to_train ON model (tenant, model_id) WHERE train_requested;

CREATE TABLE model_version (
    tenant text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    parent_version bigint NOT NULL,
    cause text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    summary text NOT NULL,
    layout bigint NOT NULL,
    numbers bytea NOT NULL,
    abandoned boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, model_id, version)
);

COMMENT ON TABLE model_version IS 'A model as it was fitted; one row for each version; all but abandoned never changes';
COMMENT ON COLUMN model_version.tenant IS 'Owner; no unit';
COMMENT ON COLUMN model_version.model_id IS 'The model; no unit';
COMMENT ON COLUMN model_version.version IS 'Its versions are counted from 1; no unit';
COMMENT ON COLUMN model_version.parent_version IS 'Version that was refined; 0: trained from samples; no unit';
COMMENT ON COLUMN model_version.cause IS 'train, refine, reform or port; no unit';
COMMENT ON COLUMN model_version.state IS 'trained or ported; no unit';
COMMENT ON COLUMN model_version.summary IS 'Number of samples, errors and ranges, JSON; no unit';
COMMENT ON COLUMN model_version.layout IS 'What the numbers mean: counted up when that changes; no unit';
COMMENT ON COLUMN model_version.numbers IS 'Coefficients and the statistics that refine them: IEEE doubles in network order; no unit';
COMMENT ON COLUMN model_version.abandoned IS 'Whether a roll-back went behind it';
COMMENT ON COLUMN model_version.created_at IS 'Instant when it was fitted';

CREATE SEQUENCE model_sample_row_id CACHE 1000;

CREATE TABLE model_sample (
    tenant text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    execution_id text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL,
    run_time_s double precision NOT NULL,
    problem_size double precision,
    processors integer NOT NULL,
    cpu_available_ratio double precision,
    bandwidth_mbps double precision,
    dedicated boolean NOT NULL,
    parameters jsonb,
    predicted_s double precision,
    predicted_version integer,
    verdict text COLLATE "C" NOT NULL,
    version integer,
    row_id bigint NOT NULL DEFAULT nextval('model_sample_row_id'),
    PRIMARY KEY (tenant, model_id, execution_id)
);

COMMENT ON TABLE model_sample IS 'An execution that a model has learnt or is to learn; one row for each model and execution';
COMMENT ON COLUMN model_sample.tenant IS 'Owner; no unit';
COMMENT ON COLUMN model_sample.model_id IS 'The model; no unit';
COMMENT ON COLUMN model_sample.execution_id IS 'The execution; no unit';
COMMENT ON COLUMN model_sample.started_at IS 'Instant when it started';
COMMENT ON COLUMN model_sample.run_time_s IS 'Run time in seconds';
COMMENT ON COLUMN model_sample.problem_size IS 'N of the model, in the application''s own unit; null: not known';
COMMENT ON COLUMN model_sample.processors IS 'Number of processors';
COMMENT ON COLUMN model_sample.cpu_available_ratio IS 'Least of the machines'' mean available shares of the CPU, 0 to 1; null: not known';
COMMENT ON COLUMN model_sample.bandwidth_mbps IS 'Least of the links'' mean available bandwidths, in Mbit/s; null: no link or not known';
COMMENT ON COLUMN model_sample.dedicated IS 'Whether nothing else ran on the machines';
COMMENT ON COLUMN model_sample.parameters IS 'Parameters of the run as an object; null: none; no unit';
COMMENT ON COLUMN model_sample.predicted_s IS 'Run time predicted before it was learnt, in seconds; null: none';
COMMENT ON COLUMN model_sample.predicted_version IS 'Version that predicted it; null: none; no unit';
COMMENT ON COLUMN model_sample.verdict IS 'fit, outlier, unusable or left_out; new until it was looked at; no unit';
COMMENT ON COLUMN model_sample.version IS 'First version that knows it, 0: looked at, but in no version yet; null: not looked at; no unit';
COMMENT ON COLUMN model_sample.row_id IS 'Tells samples of the same instant apart; no unit';

CREATE INDEX model_sample_news ON model_sample (tenant, model_id) WHERE version IS NULL;
CREATE INDEX model_sample_time ON model_sample (tenant, model_id, started_at, row_id);

-- Making a model reads what is stored, storing executions reads which models there
-- are: neither may miss the other that has not committed yet. Who stores shares a lock
-- of the application, who makes a model has it alone. 64 locks, because a body may
-- name thousands of applications.
CREATE FUNCTION model_lock_key(tenant text, application_id text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT 7453010373643071488 + (hashtext($1 || ' ' || $2) & 63)
$$;

COMMENT ON FUNCTION model_lock_key IS 'Number of the advisory lock of an application';

-- Each statement of the function sees what was committed before it, so what is read
-- after the lock was waited for is up to date. A run that failed is not learnt.
CREATE FUNCTION execution_to_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(key)
    FROM (SELECT DISTINCT model_lock_key(tenant, application_id) AS key
          FROM new_execution ORDER BY 1) AS keys;
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
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION execution_to_models IS 'Gives new executions to the models that they concern';

CREATE TRIGGER execution_to_models AFTER INSERT ON execution
    REFERENCING NEW TABLE AS new_execution
    FOR EACH STATEMENT EXECUTE FUNCTION execution_to_models();
