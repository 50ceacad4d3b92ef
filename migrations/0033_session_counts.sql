-- What has happened since a plan was made is told without reading the plan, and whether
-- tasks are left without reading all events.
ALTER TABLE workflow_session
    ADD COLUMN planned_seq bigint,
    ADD COLUMN counts_revision bigint,
    ADD COLUMN done_count bigint NOT NULL DEFAULT 0,
    ADD COLUMN stopped_count bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN workflow_session.planned_seq IS 'Revision of the session that the plan was made from; null: not known; no unit';
COMMENT ON COLUMN workflow_session.counts_revision IS 'The revision that done_count and stopped_count are of, no unit; null: of none';
COMMENT ON COLUMN workflow_session.done_count IS 'Number of its tasks that are done at counts_revision, no unit';
COMMENT ON COLUMN workflow_session.stopped_count IS 'Number of its tasks that have failed or were cancelled at counts_revision, no unit';
