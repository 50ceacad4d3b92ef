-- What keys and tenants may take of the service, and what is left of what all replicas
-- share.

ALTER TABLE api_key
    ADD COLUMN cpu_s_per_hour double precision,
    ADD COLUMN concurrent_count double precision,
    ADD COLUMN memory_bytes double precision,
    ADD COLUMN time_limit_max_s double precision;

COMMENT ON COLUMN api_key.cpu_s_per_hour IS 'Seconds of processor that it may use per hour; 0: no limit; null: the service''s setting';
COMMENT ON COLUMN api_key.concurrent_count IS 'Computations that it may have at once; 0: no limit; null: the service''s setting';
COMMENT ON COLUMN api_key.memory_bytes IS 'Memory that its computations may take; 0: no limit; null: the service''s setting; bytes';
COMMENT ON COLUMN api_key.time_limit_max_s IS 'Largest time limit of its requests; 0: no limit; null: the service''s setting; seconds';

CREATE TABLE tenant_quota (
    tenant text COLLATE "C" NOT NULL PRIMARY KEY,
    rate_per_s double precision,
    burst_count double precision,
    cpu_s_per_hour double precision,
    concurrent_count double precision,
    memory_bytes double precision,
    time_limit_max_s double precision,
    weight double precision
);

COMMENT ON TABLE tenant_quota IS 'What all keys of a tenant together may take; one row each; null: the service''s setting; 0: no limit';
COMMENT ON COLUMN tenant_quota.tenant IS 'Owner; no unit';
COMMENT ON COLUMN tenant_quota.rate_per_s IS 'Requests per second';
COMMENT ON COLUMN tenant_quota.burst_count IS 'Requests at once';
COMMENT ON COLUMN tenant_quota.cpu_s_per_hour IS 'Seconds of processor per hour';
COMMENT ON COLUMN tenant_quota.concurrent_count IS 'Computations at once';
COMMENT ON COLUMN tenant_quota.memory_bytes IS 'Memory of its computations; bytes';
COMMENT ON COLUMN tenant_quota.time_limit_max_s IS 'Largest time limit of its requests; seconds';
COMMENT ON COLUMN tenant_quota.weight IS 'Share of the processors beside other tenants, 0.01 to 100; null: 1; no unit';

CREATE TABLE quota_bucket (
    tenant text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    level double precision NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant, key_id)
);

COMMENT ON TABLE quota_bucket IS 'What is left of the seconds of processor of a key or tenant, for all replicas; one row each';
COMMENT ON COLUMN quota_bucket.tenant IS 'Owner; no unit';
COMMENT ON COLUMN quota_bucket.key_id IS 'The key; empty: all of the tenant; no unit';
COMMENT ON COLUMN quota_bucket.level IS 'Seconds of processor left at the instant; negative: used ahead';
COMMENT ON COLUMN quota_bucket.at IS 'Instant of the level';
