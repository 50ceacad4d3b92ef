-- Which description a decision was made under: names and units of its request and answer.
ALTER TABLE decision ADD COLUMN api_revision integer;

COMMENT ON COLUMN decision.api_revision IS 'x-gridplan-api-revision of the release that decided; null: an earlier one that did not count; no unit';
