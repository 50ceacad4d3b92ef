-- What load samples of a minute, an hour or a day say together, and which hours have yet
-- to be made.

CREATE TABLE load_rollup (
    tenant text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    to_resource_id text COLLATE "C" NOT NULL DEFAULT '',
    level_s integer NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant, resource_id, to_resource_id, level_s, at)
) PARTITION BY LIST (level_s);

DO $$
DECLARE
    measure text[];
BEGIN
    FOREACH measure SLICE 1 IN ARRAY ARRAY[
        ARRAY['cpu_available_ratio', 'shares of the CPU, 0 to 1'],
        ARRAY['memory_available_bytes', 'bytes'],
        ARRAY['bandwidth_mbps', 'Mbit/s'],
        ARRAY['latency_s', 'seconds']]
    LOOP
        EXECUTE format('ALTER TABLE load_rollup'
            ' ADD COLUMN %1$s_count integer NOT NULL DEFAULT 0,'
            ' ADD COLUMN %1$s_mean double precision,'
            ' ADD COLUMN %1$s_m2 double precision,'
            ' ADD COLUMN %1$s_min double precision,'
            ' ADD COLUMN %1$s_max double precision,'
            ' ADD COLUMN %1$s_sketch bytea', measure[1]);
    END LOOP;
END $$;

CREATE TABLE load_rollup_60 PARTITION OF load_rollup FOR VALUES IN (60)
    PARTITION BY RANGE (at);
CREATE TABLE load_rollup_3600 PARTITION OF load_rollup FOR VALUES IN (3600)
    PARTITION BY RANGE (at);
CREATE TABLE load_rollup_86400 PARTITION OF load_rollup FOR VALUES IN (86400)
    PARTITION BY RANGE (at);
CREATE TABLE load_rollup_60_default PARTITION OF load_rollup_60 DEFAULT;
CREATE TABLE load_rollup_3600_default PARTITION OF load_rollup_3600 DEFAULT;
CREATE TABLE load_rollup_86400_default PARTITION OF load_rollup_86400 DEFAULT;

-- Hours are made anew one at a time, of all resources: found by when they are. They are
-- written by time, so that a few bytes for many pages say where.
CREATE INDEX load_rollup_when ON load_rollup USING brin (at)
    WITH (pages_per_range = 64, autosummarize = on);

DO $$
DECLARE
    part text;
    measure text[];
BEGIN
    FOREACH part IN ARRAY ARRAY['load_rollup', 'load_rollup_60', 'load_rollup_3600',
        'load_rollup_86400', 'load_rollup_60_default', 'load_rollup_3600_default',
        'load_rollup_86400_default']
    LOOP
        EXECUTE format('COMMENT ON TABLE %1$s IS'
            ' ''What the load samples of a resource or link in a minute, an hour or a day say together; one row each'';'
            'COMMENT ON COLUMN %1$s.tenant IS ''Owner; no unit'';'
            'COMMENT ON COLUMN %1$s.resource_id IS ''The resource, or where the link begins; no unit'';'
            'COMMENT ON COLUMN %1$s.to_resource_id IS ''Where the link ends; empty: the resource itself; no unit'';'
            'COMMENT ON COLUMN %1$s.level_s IS ''How long the row covers, in seconds: 60, 3600 or 86400'';'
            'COMMENT ON COLUMN %1$s.at IS ''Instant when that begins, a multiple of level_s since 1970 (UTC)''',
            part);
        FOREACH measure SLICE 1 IN ARRAY ARRAY[
            ARRAY['cpu_available_ratio', 'shares of the CPU, 0 to 1'],
            ARRAY['memory_available_bytes', 'bytes'],
            ARRAY['bandwidth_mbps', 'Mbit/s'],
            ARRAY['latency_s', 'seconds']]
        LOOP
            EXECUTE format(
                'COMMENT ON COLUMN %1$s.%2$s_count IS ''Samples with the measure; no unit'';'
                'COMMENT ON COLUMN %1$s.%2$s_mean IS ''Mean, in %3$s; null: no samples'';'
                'COMMENT ON COLUMN %1$s.%2$s_m2 IS ''Sum of squared deviations from the mean, in squares of %3$s'';'
                'COMMENT ON COLUMN %1$s.%2$s_min IS ''Least, in %3$s'';'
                'COMMENT ON COLUMN %1$s.%2$s_max IS ''Greatest, in %3$s'';'
                'COMMENT ON COLUMN %1$s.%2$s_sketch IS ''Quantiles: a DDSketch of relative accuracy 0.01; no unit''',
                part, measure[1], measure[2]);
        END LOOP;
    END LOOP;
END $$;

CREATE SEQUENCE rollup_due_version;

CREATE TABLE rollup_due (
    tenant text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    shard smallint NOT NULL CHECK (shard BETWEEN 0 AND 63),
    version bigint NOT NULL DEFAULT nextval('rollup_due_version'),
    PRIMARY KEY (tenant, at, shard)
);

COMMENT ON TABLE rollup_due IS 'Hours of which samples came or changed since their rows of load_rollup were made; one row for each part of the resources';
COMMENT ON COLUMN rollup_due.tenant IS 'Owner; no unit';
COMMENT ON COLUMN rollup_due.at IS 'Instant when the hour begins';
COMMENT ON COLUMN rollup_due.shard IS 'Which resources: hashtext(resource_id) & 63; no unit';
COMMENT ON COLUMN rollup_due.version IS 'Another one each time that samples change: what was made before is not the last word; no unit';

CREATE INDEX rollup_due_at ON rollup_due (at);

CREATE TABLE rollup_progress (
    level_s integer PRIMARY KEY,
    kept_from timestamptz NOT NULL DEFAULT '-infinity',
    known_until timestamptz NOT NULL DEFAULT '-infinity'
);

COMMENT ON TABLE rollup_progress IS 'What there is of load samples and of each level of load_rollup; one row each';
COMMENT ON COLUMN rollup_progress.level_s IS 'The level in seconds; 0: the samples themselves';
COMMENT ON COLUMN rollup_progress.kept_from IS 'Instant before which all has been removed, as its retention was over';
COMMENT ON COLUMN rollup_progress.known_until IS 'Instant; level 3600: hours that begin before it are made, unless rollup_due has them';

INSERT INTO rollup_progress (level_s) VALUES (0), (60), (3600), (86400);
