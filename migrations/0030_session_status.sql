-- What a workflow session comes to, so that sessions can be counted by it.
ALTER TABLE workflow_session
    ADD COLUMN status text NOT NULL DEFAULT 'running',
    ADD COLUMN status_revision bigint,
    ADD COLUMN running_count bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN workflow_session.status IS 'What its tasks come to at status_revision: running, finished or stuck; no unit';
COMMENT ON COLUMN workflow_session.status_revision IS 'The revision that status and running_count are of, no unit; null: of none, it was stored earlier';
COMMENT ON COLUMN workflow_session.running_count IS 'Number of its tasks that run at status_revision, no unit';

DROP INDEX workflow_session_age;
CREATE INDEX workflow_session_age ON workflow_session (expires_at, status);
