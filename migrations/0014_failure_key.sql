-- A failure is reported once: its resource, component and begin are its natural key.
--
-- Whoever reported one again before there was a key left several rows of it. Of rows that
-- are the same in all but their row_id one stays; of others of one key too, and what the
-- others said is kept in double_record, for people: nothing reads it. All of it is one
-- transaction: after a crash it begins anew.

CREATE TABLE double_record (
    table_name text COLLATE "C" NOT NULL,
    record jsonb NOT NULL,
    removed_at timestamptz NOT NULL
);

COMMENT ON TABLE double_record IS 'Rows that had the natural key of another row and other values when keys became unique; one row each';
COMMENT ON COLUMN double_record.table_name IS 'The table that it was in; no unit';
COMMENT ON COLUMN double_record.record IS 'The row, as an object of its columns; no unit';
COMMENT ON COLUMN double_record.removed_at IS 'Instant when it was removed';

-- `key`: expressions of the key without the tenant, `at`: the column of its partitions,
-- `best`: what the row that stays comes first by, before its row_id.
CREATE FUNCTION remove_doubles(name text, key text, at text, best text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'WITH doubled AS (SELECT row_ids FROM (SELECT array_agg(row_id) AS row_ids'
        ' FROM %1$I GROUP BY tenant, %2$s HAVING count(*) > 1) AS keys),'
        ' found AS (SELECT t.tableoid, t.row_id, t.%3$I AS at, to_jsonb(t) - ''row_id'' AS content,'
        ' row_number() OVER key AS place, first_value(to_jsonb(t) - ''row_id'') OVER key AS stays'
        ' FROM %1$I AS t JOIN (SELECT unnest(row_ids) AS row_id FROM doubled) AS d'
        ' ON d.row_id = t.row_id WINDOW key AS (PARTITION BY tenant, %2$s ORDER BY %4$s, t.row_id)),'
        ' kept AS (INSERT INTO double_record SELECT %1$L, content, now() FROM found'
        ' WHERE place > 1 AND content <> stays)'
        ' DELETE FROM %1$I AS t USING found AS f'
        ' WHERE f.place > 1 AND t.%3$I = f.at AND t.row_id = f.row_id',
        name, key, at, best);
END
$$;

COMMENT ON FUNCTION remove_doubles IS 'Leaves one row of each natural key';

-- One that says when it was up again says more than one that is open.
SELECT remove_doubles('failure', 'resource_id, down_at, coalesce(component, '''')', 'down_at',
    'up_at IS NULL');

-- A component may be longer than what an index takes.
CREATE UNIQUE INDEX failure_key ON failure
    (tenant, resource_id, down_at, (md5(coalesce(component, ''))::uuid));
DROP INDEX failure_resource;
