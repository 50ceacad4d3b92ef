-- How far off predictions of finished tasks were, by tenths of their progress: intervals of
-- the tasks that follow rest on them. Tasks that were scored before have none.
ALTER TABLE progress_task ADD COLUMN log_errors double precision[];

COMMENT ON COLUMN progress_task.log_errors IS 'ln(actual / predicted work) at the first report of each tenth of progress, ten of them; null: no report there; no unit';
