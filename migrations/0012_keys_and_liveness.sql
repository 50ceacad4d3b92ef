-- A long computation under an Idempotency-Key: the key is reserved in one short
-- transaction and its answer published in another one. In between only the row says
-- that somebody is at it: `owner_id` is made anew for every attempt, so that of two
-- attempts that both end only the one that stands in the row can publish.
--
-- Keys are the one table that is written twice for each request: autovacuum finds dead
-- rows by its usual share.

ALTER TABLE idempotency_key
    ALTER COLUMN status DROP NOT NULL,
    ALTER COLUMN body DROP NOT NULL,
    ADD COLUMN state text COLLATE "C" NOT NULL DEFAULT 'done',
    ADD COLUMN owner_id uuid,
    ADD COLUMN lease_until timestamptz,
    ADD COLUMN attempt_count bigint NOT NULL DEFAULT 1,
    ADD COLUMN replay_count bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN idempotency_key.status IS 'HTTP status of the answer; null: there is none yet; no unit';
COMMENT ON COLUMN idempotency_key.body IS 'Body of the answer, JSON where the route can; null: there is none yet; no unit';
COMMENT ON COLUMN idempotency_key.created_at IS 'Instant of the answer, or when the attempt that runs began';
COMMENT ON COLUMN idempotency_key.state IS 'running or done; no unit';
COMMENT ON COLUMN idempotency_key.owner_id IS 'The attempt that runs; null: none; no unit';
COMMENT ON COLUMN idempotency_key.lease_until IS 'Instant from which another attempt may take over unless it is renewed; null: none runs';
COMMENT ON COLUMN idempotency_key.attempt_count IS 'Number of attempts that have begun since the last answer';
COMMENT ON COLUMN idempotency_key.replay_count IS 'Number of times that the answer was given again';

CREATE INDEX idempotency_key_owner ON idempotency_key (owner_id) WHERE state = 'running';

-- Whether the database takes writes: every replica tries with its row. An update in place
-- needs no room, so on a full disk it is tried with rows that do.

CREATE TABLE liveness (
    replica_id uuid PRIMARY KEY,
    at timestamptz NOT NULL
);

COMMENT ON TABLE liveness IS 'When each replica last wrote; one row each';
COMMENT ON COLUMN liveness.replica_id IS 'A process of the service, as long as it lives; no unit';
COMMENT ON COLUMN liveness.at IS 'Instant of its last write';

CREATE TABLE disk_probe (
    filler bytea NOT NULL
);
ALTER TABLE disk_probe ALTER COLUMN filler SET STORAGE EXTERNAL;

COMMENT ON TABLE disk_probe IS 'Empty: filled and emptied to see whether a full disk has room again';
COMMENT ON COLUMN disk_probe.filler IS '8,000 bytes of noise';
