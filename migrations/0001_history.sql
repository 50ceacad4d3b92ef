-- What was observed: load samples, failures, executions.
--
-- Range-partitioned by month. Partitions are made ahead and dropped by
-- service/maintenance.c; a default partition takes the rows of all other months.
-- Every key begins with the tenant. Names are compared bytewise (COLLATE "C"), which
-- makes the index half as dear to fill. Each connection takes its row_id in blocks
-- of 1000: they say nothing about the order of arrival.

CREATE SEQUENCE load_sample_row_id CACHE 1000;

CREATE TABLE load_sample (
    tenant text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    to_resource_id text COLLATE "C",
    observed_at timestamptz NOT NULL,
    cpu_available_ratio double precision,
    memory_available_bytes double precision,
    bandwidth_mbps double precision,
    latency_s double precision,
    row_id bigint NOT NULL DEFAULT nextval('load_sample_row_id')
) PARTITION BY RANGE (observed_at);

COMMENT ON TABLE load_sample IS 'One observation of a resource or a link; one row each';
COMMENT ON COLUMN load_sample.tenant IS 'Owner; no unit';
COMMENT ON COLUMN load_sample.resource_id IS 'The resource, or where the link begins; no unit';
COMMENT ON COLUMN load_sample.to_resource_id IS 'Where the link ends; null: the resource itself; no unit';
COMMENT ON COLUMN load_sample.observed_at IS 'Instant of the observation, to the microsecond';
COMMENT ON COLUMN load_sample.cpu_available_ratio IS 'Share of the CPU that a new job would get, 0 to 1; null: not observed';
COMMENT ON COLUMN load_sample.memory_available_bytes IS 'Free memory in bytes; null: not observed';
COMMENT ON COLUMN load_sample.bandwidth_mbps IS 'Available bandwidth in Mbit/s; null: not observed';
COMMENT ON COLUMN load_sample.latency_s IS 'Latency in seconds; null: not observed';
COMMENT ON COLUMN load_sample.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX load_sample_resource ON load_sample (tenant, resource_id, observed_at);
CREATE TABLE load_sample_default PARTITION OF load_sample DEFAULT;

CREATE SEQUENCE failure_row_id CACHE 1000;

CREATE TABLE failure (
    tenant text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    down_at timestamptz NOT NULL,
    up_at timestamptz,
    cause text,
    component text,
    row_id bigint NOT NULL DEFAULT nextval('failure_row_id')
) PARTITION BY RANGE (down_at);

COMMENT ON TABLE failure IS 'One time that a resource was down; one row each';
COMMENT ON COLUMN failure.tenant IS 'Owner; no unit';
COMMENT ON COLUMN failure.resource_id IS 'The resource that failed; no unit';
COMMENT ON COLUMN failure.down_at IS 'Instant when it went down, to the microsecond';
COMMENT ON COLUMN failure.up_at IS 'Instant when it was up again, to the microsecond; null: still down';
COMMENT ON COLUMN failure.cause IS 'Why, free text; null: not known; no unit';
COMMENT ON COLUMN failure.component IS 'The part that failed; null: the whole resource; no unit';
COMMENT ON COLUMN failure.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX failure_resource ON failure (tenant, resource_id, down_at);
CREATE TABLE failure_default PARTITION OF failure DEFAULT;

CREATE SEQUENCE execution_row_id CACHE 1000;

CREATE TABLE execution (
    tenant text COLLATE "C" NOT NULL,
    execution_id text COLLATE "C" NOT NULL,
    phase_index integer NOT NULL DEFAULT -1,
    application_id text COLLATE "C" NOT NULL,
    site_id text COLLATE "C",
    resource_id text COLLATE "C",
    parameters jsonb,
    started_at timestamptz NOT NULL,
    run_time_s double precision NOT NULL,
    problem_size double precision,
    processors integer NOT NULL,
    cpu_available_ratio double precision,
    bandwidth_mbps double precision,
    memory_peak_bytes double precision,
    exit_code integer,
    predicted_s double precision,
    model_version integer,
    dedicated boolean NOT NULL,
    outlier boolean NOT NULL,
    row_id bigint NOT NULL DEFAULT nextval('execution_row_id')
) PARTITION BY RANGE (started_at);

COMMENT ON TABLE execution IS 'One observed run of an application, or of one of its phases; one row each';
COMMENT ON COLUMN execution.tenant IS 'Owner; no unit';
COMMENT ON COLUMN execution.execution_id IS 'The caller''s name of the run; no unit';
COMMENT ON COLUMN execution.phase_index IS 'Phase, counted from 0; -1: the whole run';
COMMENT ON COLUMN execution.application_id IS 'What ran; no unit';
COMMENT ON COLUMN execution.site_id IS 'Where it ran; null: not known; no unit';
COMMENT ON COLUMN execution.resource_id IS 'The machine, or the first of several; null: not known; no unit';
COMMENT ON COLUMN execution.parameters IS 'Parameters of the run as an object; null: none; no unit';
COMMENT ON COLUMN execution.started_at IS 'Instant when it started, to the microsecond';
COMMENT ON COLUMN execution.run_time_s IS 'Run time in seconds';
COMMENT ON COLUMN execution.problem_size IS 'N of the application''s model, in its own unit; null: not known';
COMMENT ON COLUMN execution.processors IS 'Number of processors';
COMMENT ON COLUMN execution.cpu_available_ratio IS 'Least of the machines'' mean available shares of the CPU during the run, 0 to 1; null: not known';
COMMENT ON COLUMN execution.bandwidth_mbps IS 'Least of the links'' mean available bandwidths during the run, in Mbit/s; null: no link or not known';
COMMENT ON COLUMN execution.memory_peak_bytes IS 'Largest memory in use, in bytes; null: not known';
COMMENT ON COLUMN execution.exit_code IS 'Exit code, 0: success; null: not known; no unit';
COMMENT ON COLUMN execution.predicted_s IS 'Run time that was predicted, in seconds; null: none';
COMMENT ON COLUMN execution.model_version IS 'Version of the model that predicted it; null: none; no unit';
COMMENT ON COLUMN execution.dedicated IS 'Whether nothing else ran on the machines';
COMMENT ON COLUMN execution.outlier IS 'Whether it was predicted much too badly: left out of robust fits';
COMMENT ON COLUMN execution.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE UNIQUE INDEX execution_name
    ON execution (tenant, execution_id, phase_index, started_at);
CREATE INDEX execution_application ON execution (tenant, application_id, started_at);
CREATE TABLE execution_default PARTITION OF execution DEFAULT;
