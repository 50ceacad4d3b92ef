-- What co-allocation knows beyond a request: where copies of files are, and which pairs of
-- sites Close-to-Files may look at.

CREATE TABLE replica (
    tenant text COLLATE "C" NOT NULL,
    file_id text COLLATE "C" NOT NULL,
    site_id text COLLATE "C" NOT NULL,
    physical_url text,
    size_bytes double precision,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, file_id, site_id)
);

COMMENT ON TABLE replica IS 'Catalogue of files: one row for each site with a copy of one';
COMMENT ON COLUMN replica.tenant IS 'Owner; no unit';
COMMENT ON COLUMN replica.file_id IS 'Logical name of the file; no unit';
COMMENT ON COLUMN replica.site_id IS 'Site with the copy; no unit';
COMMENT ON COLUMN replica.physical_url IS 'Where it is on the site; null: not known; no unit';
COMMENT ON COLUMN replica.size_bytes IS 'Size of the copy, in bytes; null: not known';
COMMENT ON COLUMN replica.updated_at IS 'When it was last reported, to the microsecond';

CREATE INDEX replica_site ON replica (tenant, site_id);

CREATE TABLE co_history_pair (
    tenant text COLLATE "C" NOT NULL,
    execution_site_id text COLLATE "C" NOT NULL,
    file_site_id text COLLATE "C" NOT NULL,
    uses bigint NOT NULL,
    PRIMARY KEY (tenant, execution_site_id, file_site_id)
);

COMMENT ON TABLE co_history_pair IS 'History table of Close-to-Files: pairs of sites that placements found';
COMMENT ON COLUMN co_history_pair.tenant IS 'Owner; no unit';
COMMENT ON COLUMN co_history_pair.execution_site_id IS 'Site that runs; no unit';
COMMENT ON COLUMN co_history_pair.file_site_id IS 'Site that has the file; no unit';
COMMENT ON COLUMN co_history_pair.uses IS 'Jobs whose placement added it, also again; 0: only given by a caller; no unit';
