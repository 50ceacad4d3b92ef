-- Tasks of runs on several nodes: all of them, where one was enough before.
ALTER TABLE workflow_session_event ADD COLUMN resource_ids text;
ALTER TABLE workflow_session_grant ADD COLUMN resource_ids text;

COMMENT ON COLUMN workflow_session_event.resource_ids IS 'JSON list of all resources of a started attempt on several, resource_id is the first; null: it is on one; no unit';
COMMENT ON COLUMN workflow_session_grant.resource_ids IS 'JSON list of all resources where a task on several is to start, resource_id is the first; null: on one; no unit';
