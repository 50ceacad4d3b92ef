-- What lists of decisions show, so that their answers need not be read: taken from the
-- answer when it is stored.
ALTER TABLE decision
    ADD COLUMN job_count bigint,
    ADD COLUMN unplaced_count bigint,
    ADD COLUMN makespan_s double precision,
    ADD COLUMN gap_ratio double precision,
    ADD COLUMN decide_s double precision;

COMMENT ON COLUMN decision.job_count IS 'Jobs or tasks that the answer speaks of; null: of none, or stored earlier';
COMMENT ON COLUMN decision.unplaced_count IS 'Those of them that found no place; null: the answer has no such list, or stored earlier';
COMMENT ON COLUMN decision.makespan_s IS 'From the start until the last job has ended, in s; null: not known';
COMMENT ON COLUMN decision.gap_ratio IS 'How far above the lower bound, 1 is 100 %; null: not known; no unit';
COMMENT ON COLUMN decision.decide_s IS 'Time that the decision took, in s; null: not known';
