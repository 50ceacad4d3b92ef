-- What seconds in a snapshot that was changed since count from.
ALTER TABLE snapshot ADD COLUMN written_at timestamptz;

COMMENT ON COLUMN snapshot.written_at IS 'Instant of the last whole write, from which its seconds count; null: updated_at';
