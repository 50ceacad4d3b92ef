-- Since when and until when resources were watched, and what a failure was: without
-- that a history says how often something failed, but not in how much time.

CREATE SEQUENCE resource_observation_row_id CACHE 1000;

CREATE TABLE resource_observation (
    tenant text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    component text COLLATE "C" NOT NULL DEFAULT '',
    from_at timestamptz NOT NULL,
    to_at timestamptz,
    component_count integer NOT NULL DEFAULT 1 CHECK (component_count >= 1),
    site_id text COLLATE "C",
    row_id bigint NOT NULL DEFAULT nextval('resource_observation_row_id'),
    PRIMARY KEY (tenant, resource_id, component, from_at),
    CHECK (to_at IS NULL OR to_at > from_at)
);

COMMENT ON TABLE resource_observation IS 'A time in which every failure of a resource would have been stored; one row each';
COMMENT ON COLUMN resource_observation.tenant IS 'Owner; no unit';
COMMENT ON COLUMN resource_observation.resource_id IS 'The resource; no unit';
COMMENT ON COLUMN resource_observation.component IS 'The part of it that was watched; empty: the whole resource; no unit';
COMMENT ON COLUMN resource_observation.from_at IS 'Instant when it began, to the microsecond';
COMMENT ON COLUMN resource_observation.to_at IS 'Instant when it ended, to the microsecond; null: not yet';
COMMENT ON COLUMN resource_observation.component_count IS 'Number of parts that are alike';
COMMENT ON COLUMN resource_observation.site_id IS 'The site of the resource; null: not known; no unit';
COMMENT ON COLUMN resource_observation.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE INDEX resource_observation_site ON resource_observation (tenant, site_id)
    WHERE site_id IS NOT NULL;

ALTER TABLE failure
    ADD COLUMN kind text NOT NULL DEFAULT 'failure',
    ADD COLUMN site_id text COLLATE "C",
    ADD COLUMN detected_at timestamptz,
    ADD COLUMN boot_id text,
    ADD COLUMN level integer;

COMMENT ON COLUMN failure.kind IS 'failure, maintenance or degraded; no unit';
COMMENT ON COLUMN failure.site_id IS 'Where the resource is; null: not known; no unit';
COMMENT ON COLUMN failure.detected_at IS 'Instant when it was noticed; null: not known';
COMMENT ON COLUMN failure.boot_id IS 'Boot that it ended; null: not known; no unit';
COMMENT ON COLUMN failure.level IS 'Lowest level of checkpoints that survives it, from 1; null: not known';
