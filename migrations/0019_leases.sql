-- What was given away of a stored snapshot before its next version shows it.

ALTER TABLE snapshot ADD COLUMN lease_revision bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN snapshot.lease_revision IS 'Number of leases that were made or confirmed, no unit';

CREATE TABLE snapshot_lease (
    tenant text COLLATE "C" NOT NULL,
    snapshot_id text COLLATE "C" NOT NULL,
    lease_id uuid NOT NULL,
    owner text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    generation bigint NOT NULL,
    rows jsonb NOT NULL,
    PRIMARY KEY (tenant, snapshot_id, lease_id),
    FOREIGN KEY (tenant, snapshot_id) REFERENCES snapshot ON DELETE CASCADE
);

COMMENT ON TABLE snapshot_lease IS 'Amounts of a snapshot that an owner holds for a while; one row each, until a day after it has expired';
COMMENT ON COLUMN snapshot_lease.tenant IS 'Owner of the snapshot; no unit';
COMMENT ON COLUMN snapshot_lease.snapshot_id IS 'Of what it holds; no unit';
COMMENT ON COLUMN snapshot_lease.lease_id IS 'Its name, UUID version 7; no unit';
COMMENT ON COLUMN snapshot_lease.owner IS 'Who holds it; no unit';
COMMENT ON COLUMN snapshot_lease.created_at IS 'Instant when it was made';
COMMENT ON COLUMN snapshot_lease.expires_at IS 'Instant from which it counts no more; null: never';
COMMENT ON COLUMN snapshot_lease.generation IS 'Of the snapshot when the lease was made, no unit';
COMMENT ON COLUMN snapshot_lease.rows IS 'What is held: JSON, a list of placements with instants; no unit';

CREATE INDEX snapshot_lease_live ON snapshot_lease (tenant, snapshot_id, expires_at);
CREATE INDEX snapshot_lease_age ON snapshot_lease (expires_at);
