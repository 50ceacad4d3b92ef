-- What a queued simulation had looked up when it was asked for, so that whoever runs it
-- decides from the same.
ALTER TABLE simulation ADD COLUMN history_document text;

COMMENT ON COLUMN simulation.history_document IS 'What else was looked up for the request, JSON: stored failures, and the SHA-256 of uploads; null: nothing, or asked for by an older program; no unit';
