-- Long documents are compressed by lz4 from now on, where the server was built with it: in a
-- fifth of pglz's time, to a tenth more, and read quicker. What is stored stays as it is, and
-- is read as before.
DO $$
DECLARE
    d record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_settings
                   WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        RETURN;
    END IF;
    FOR d IN SELECT * FROM (VALUES
        ('decision', 'request'), ('decision', 'snapshot_document'),
        ('decision', 'history_document'), ('decision', 'answer'),
        ('simulation', 'request'), ('simulation', 'snapshot_document'),
        ('simulation', 'history_document'), ('simulation', 'result'),
        ('snapshot', 'document'), ('idempotency_key', 'body')) AS document (tab, col)
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET COMPRESSION lz4', d.tab, d.col);
    END LOOP;
END
$$;
