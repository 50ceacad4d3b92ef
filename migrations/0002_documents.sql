-- What callers left with us: snapshots; what we decided; keys; answers to repeat.
-- Documents are text, not jsonb: they come back byte for byte.

CREATE TABLE snapshot (
    tenant text COLLATE "C" NOT NULL,
    snapshot_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    document text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, snapshot_id)
);

COMMENT ON TABLE snapshot IS 'A stored view of a grid; one row each, the last version only';
COMMENT ON COLUMN snapshot.tenant IS 'Owner; no unit';
COMMENT ON COLUMN snapshot.snapshot_id IS 'Its name; no unit';
COMMENT ON COLUMN snapshot.generation IS 'Number of writes so far, from 1';
COMMENT ON COLUMN snapshot.document IS 'The JSON document as it was given; no unit';
COMMENT ON COLUMN snapshot.created_at IS 'Instant of the first write';
COMMENT ON COLUMN snapshot.updated_at IS 'Instant of the last write';

CREATE TABLE decision (
    tenant text COLLATE "C" NOT NULL,
    decision_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    route text COLLATE "C" NOT NULL,
    algorithm text,
    status text NOT NULL,
    seed bigint NOT NULL,
    request_sha256 bytea NOT NULL,
    request text NOT NULL,
    snapshot_document text,
    answer text NOT NULL,
    PRIMARY KEY (tenant, decision_id)
);

COMMENT ON TABLE decision IS 'A decision with all that is needed to repeat it; one row each';
COMMENT ON COLUMN decision.tenant IS 'Owner; no unit';
COMMENT ON COLUMN decision.decision_id IS 'Its name; no unit';
COMMENT ON COLUMN decision.created_at IS 'Instant when it was stored';
COMMENT ON COLUMN decision.route IS 'Path template of the endpoint; no unit';
COMMENT ON COLUMN decision.algorithm IS 'Policy that decided; null: none; no unit';
COMMENT ON COLUMN decision.status IS 'optimal, feasible, infeasible or cut; no unit';
COMMENT ON COLUMN decision.seed IS 'Seed of the random numbers; no unit';
COMMENT ON COLUMN decision.request_sha256 IS 'SHA-256 of the request, 32 bytes';
COMMENT ON COLUMN decision.request IS 'The request body as it came; no unit';
COMMENT ON COLUMN decision.snapshot_document IS 'The stored snapshot that the request named, as it was then; null: none; no unit';
COMMENT ON COLUMN decision.answer IS 'The answer, JSON; no unit';

CREATE INDEX decision_created ON decision (tenant, created_at, decision_id);
CREATE INDEX decision_age ON decision USING brin (created_at);

CREATE TABLE api_key (
    tenant text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    digest_sha256 bytea NOT NULL,
    scopes bigint NOT NULL,
    label text,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    rate_per_s double precision,
    burst_count double precision,
    PRIMARY KEY (tenant, key_id)
);

COMMENT ON TABLE api_key IS 'A key that callers show; one row each; the key itself is not stored';
COMMENT ON COLUMN api_key.tenant IS 'Owner; no unit';
COMMENT ON COLUMN api_key.key_id IS 'Public part of the key; no unit';
COMMENT ON COLUMN api_key.digest_sha256 IS 'SHA-256 of the key, 32 bytes';
COMMENT ON COLUMN api_key.scopes IS 'What it allows: sum of 1 decide, 2 ingest, 4 admin';
COMMENT ON COLUMN api_key.label IS 'Note for people; null: none; no unit';
COMMENT ON COLUMN api_key.created_at IS 'Instant when it was made';
COMMENT ON COLUMN api_key.expires_at IS 'Instant from which it is refused; null: never';
COMMENT ON COLUMN api_key.revoked_at IS 'Instant when it was revoked; null: not revoked';
COMMENT ON COLUMN api_key.rate_per_s IS 'Requests per second that it may make; null: the service''s setting';
COMMENT ON COLUMN api_key.burst_count IS 'Requests that it may make at once; null: the service''s setting';

-- A key is looked up before its tenant is known.
CREATE UNIQUE INDEX api_key_key_id ON api_key (key_id);

CREATE TABLE idempotency_key (
    tenant text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    route text COLLATE "C" NOT NULL,
    request_sha256 bytea NOT NULL,
    status bigint NOT NULL,
    content_type text,
    location text,
    etag text,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, idempotency_key)
);

COMMENT ON TABLE idempotency_key IS 'The answer to a request that may come again; one row for 24 hours each';
COMMENT ON COLUMN idempotency_key.tenant IS 'Owner; no unit';
COMMENT ON COLUMN idempotency_key.idempotency_key IS 'The caller''s Idempotency-Key; no unit';
COMMENT ON COLUMN idempotency_key.route IS 'Method and path template; no unit';
COMMENT ON COLUMN idempotency_key.request_sha256 IS 'SHA-256 of the request, 32 bytes';
COMMENT ON COLUMN idempotency_key.status IS 'HTTP status of the answer; no unit';
COMMENT ON COLUMN idempotency_key.content_type IS 'Header of that name; null: none; no unit';
COMMENT ON COLUMN idempotency_key.location IS 'Header of that name; null: none; no unit';
COMMENT ON COLUMN idempotency_key.etag IS 'Header of that name; null: none; no unit';
COMMENT ON COLUMN idempotency_key.body IS 'Body of the answer; no unit';
COMMENT ON COLUMN idempotency_key.created_at IS 'Instant of the answer';

CREATE INDEX idempotency_key_created ON idempotency_key (created_at);
