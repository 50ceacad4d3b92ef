-- Hours whose samples come late, change or go are due again. The rule is here, not in
-- whoever writes, so that nobody can forget it; it is part of the writing transaction.
--
-- An hour that ended less than 10 minutes ago needs no mark: it has not been made yet.
-- Asked after the rows are written, of the clock that runs: so a transaction that leaves no
-- mark has had its number (backend_xid) before those 10 minutes were over, and whoever
-- makes the hour waits for it.

CREATE FUNCTION load_sample_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    border timestamptz :=
        date_bin('1 hour', clock_timestamp() - interval '10 minutes', 'epoch');
BEGIN
    INSERT INTO rollup_due AS due (tenant, at, shard)
    SELECT DISTINCT tenant, date_bin('1 hour', observed_at, 'epoch'),
        hashtext(resource_id) & 63
    FROM changed
    WHERE observed_at < border
        AND observed_at >= (SELECT kept_from FROM rollup_progress WHERE level_s = 0)
    ORDER BY 1, 2, 3
    ON CONFLICT (tenant, at, shard) DO UPDATE SET version = nextval('rollup_due_version');
    RETURN NULL;
END $$;

CREATE TRIGGER load_sample_added AFTER INSERT ON load_sample
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION load_sample_changed();
CREATE TRIGGER load_sample_was AFTER UPDATE ON load_sample
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION load_sample_changed();
CREATE TRIGGER load_sample_became AFTER UPDATE ON load_sample
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION load_sample_changed();
CREATE TRIGGER load_sample_removed AFTER DELETE ON load_sample
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION load_sample_changed();

-- An hour of all resources of a tenant is read at once.
CREATE INDEX load_sample_when ON load_sample USING brin (observed_at)
    WITH (pages_per_range = 64, autosummarize = on);

-- What is there already.
UPDATE rollup_progress
SET known_until = date_bin('1 hour', clock_timestamp() - interval '10 minutes', 'epoch')
WHERE level_s = 3600;
INSERT INTO rollup_due (tenant, at, shard)
SELECT DISTINCT tenant, date_bin('1 hour', observed_at, 'epoch'), hashtext(resource_id) & 63
FROM load_sample
WHERE observed_at < (SELECT known_until FROM rollup_progress WHERE level_s = 3600);
