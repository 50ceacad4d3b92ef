-- The labels of a decision, in lists of decisions, and to look for.
ALTER TABLE decision ADD COLUMN labels jsonb;

COMMENT ON COLUMN decision.labels IS 'What the request called it, any JSON; null: it had none, or it was stored earlier';
