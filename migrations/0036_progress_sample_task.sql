-- The key's index finds a task's reports as well. With two indexes that begin alike, and
-- without statistics yet, a report's key was looked for among all reports of its task.

DROP INDEX progress_sample_task;
