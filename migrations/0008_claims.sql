-- What became of claims, of the starts of components and of copies of files: co-allocation
-- learns from these when a request asks for it.

CREATE SEQUENCE claim_attempt_row_id CACHE 1000;

CREATE TABLE claim_attempt (
    tenant text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    attempted_at timestamptz NOT NULL,
    site_ids jsonb NOT NULL,
    processors integer NOT NULL,
    l_value double precision NOT NULL,
    claim_tries integer NOT NULL,
    fraction_f double precision,
    ftt_s double precision,
    decision text NOT NULL,
    row_id bigint NOT NULL DEFAULT nextval('claim_attempt_row_id')
) PARTITION BY RANGE (attempted_at);

COMMENT ON TABLE claim_attempt IS 'One try of a placed job to get its processors; one row each';
COMMENT ON COLUMN claim_attempt.tenant IS 'Owner; no unit';
COMMENT ON COLUMN claim_attempt.job_id IS 'The job; no unit';
COMMENT ON COLUMN claim_attempt.attempted_at IS 'Instant of the try, to the microsecond';
COMMENT ON COLUMN claim_attempt.site_ids IS 'Array of the sites that it was placed on, each once, by name; no unit';
COMMENT ON COLUMN claim_attempt.processors IS 'Number of its processors on all of them';
COMMENT ON COLUMN claim_attempt.l_value IS 'L: the share of the transfer time after which it was first claimed, 0 to 1';
COMMENT ON COLUMN claim_attempt.claim_tries IS 'Number of this try, from 1; no unit';
COMMENT ON COLUMN claim_attempt.fraction_f IS 'Share of its components that had started or could start, 0 to 1; null: not known';
COMMENT ON COLUMN claim_attempt.ftt_s IS 'Time of its longest transfer, in seconds; null: not known';
COMMENT ON COLUMN claim_attempt.decision IS 'start_all, start_partial, wait, requeue_placement or fail; no unit';
COMMENT ON COLUMN claim_attempt.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE UNIQUE INDEX claim_attempt_job ON claim_attempt (tenant, job_id, attempted_at);

-- Only tries that ended a placement say how L did. A set of sites may be longer than what
-- an index takes.
CREATE INDEX claim_attempt_end ON claim_attempt (tenant, attempted_at)
    WHERE decision IN ('start_all', 'requeue_placement', 'fail');
CREATE INDEX claim_attempt_sites ON claim_attempt (tenant, md5(site_ids::text), attempted_at)
    WHERE decision IN ('start_all', 'requeue_placement', 'fail');
CREATE TABLE claim_attempt_default PARTITION OF claim_attempt DEFAULT;

CREATE SEQUENCE site_error_row_id CACHE 1000;

CREATE TABLE site_error (
    tenant text COLLATE "C" NOT NULL,
    site_id text COLLATE "C" NOT NULL,
    observed_at timestamptz NOT NULL,
    error_count integer NOT NULL,
    start_count integer NOT NULL,
    consecutive_errors integer,
    unusable boolean NOT NULL,
    job_id text COLLATE "C",
    message text,
    row_id bigint NOT NULL DEFAULT nextval('site_error_row_id')
) PARTITION BY RANGE (observed_at);

COMMENT ON TABLE site_error IS 'Components that failed by the fault of a site, and that started well there; one row each report';
COMMENT ON COLUMN site_error.tenant IS 'Owner; no unit';
COMMENT ON COLUMN site_error.site_id IS 'The site; no unit';
COMMENT ON COLUMN site_error.observed_at IS 'Instant of the report, to the microsecond';
COMMENT ON COLUMN site_error.error_count IS 'Components that failed by its fault since the report before';
COMMENT ON COLUMN site_error.start_count IS 'Components that started well there since then';
COMMENT ON COLUMN site_error.consecutive_errors IS 'Errors in a row up to then; null: not known';
COMMENT ON COLUMN site_error.unusable IS 'Whether the scheduler does without the site from then on';
COMMENT ON COLUMN site_error.job_id IS 'The job; null: several, or not known; no unit';
COMMENT ON COLUMN site_error.message IS 'For people; null: none; no unit';
COMMENT ON COLUMN site_error.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX site_error_site ON site_error (tenant, site_id, observed_at);
CREATE INDEX site_error_time ON site_error (tenant, observed_at);
CREATE TABLE site_error_default PARTITION OF site_error DEFAULT;

CREATE SEQUENCE transfer_actual_row_id CACHE 1000;

CREATE TABLE transfer_actual (
    tenant text COLLATE "C" NOT NULL,
    from_site_id text COLLATE "C" NOT NULL,
    to_site_id text COLLATE "C" NOT NULL,
    file_id text COLLATE "C",
    job_id text COLLATE "C",
    bytes double precision NOT NULL,
    estimated_s double precision NOT NULL,
    actual_s double precision NOT NULL,
    finished_at timestamptz NOT NULL,
    row_id bigint NOT NULL DEFAULT nextval('transfer_actual_row_id')
) PARTITION BY RANGE (finished_at);

COMMENT ON TABLE transfer_actual IS 'One file that was copied from a site to another; one row each';
COMMENT ON COLUMN transfer_actual.tenant IS 'Owner; no unit';
COMMENT ON COLUMN transfer_actual.from_site_id IS 'Site that sent it; no unit';
COMMENT ON COLUMN transfer_actual.to_site_id IS 'Site that received it; no unit';
COMMENT ON COLUMN transfer_actual.file_id IS 'Logical name of the file; null: not known; no unit';
COMMENT ON COLUMN transfer_actual.job_id IS 'The job that needed it; null: not known; no unit';
COMMENT ON COLUMN transfer_actual.bytes IS 'What was moved, in bytes';
COMMENT ON COLUMN transfer_actual.estimated_s IS 'Time that it should have taken, in seconds';
COMMENT ON COLUMN transfer_actual.actual_s IS 'Time that it took, in seconds';
COMMENT ON COLUMN transfer_actual.finished_at IS 'Instant when it was there, to the microsecond';
COMMENT ON COLUMN transfer_actual.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX transfer_actual_from ON transfer_actual (tenant, from_site_id, finished_at);
CREATE TABLE transfer_actual_default PARTITION OF transfer_actual DEFAULT;
