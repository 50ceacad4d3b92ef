-- Effects of machines that share no configuration of an application with another; and
-- whether models have learnt something since the effects were worked out.
ALTER TABLE machine_effect ADD COLUMN is_alone boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN machine_effect.is_alone IS 'Whether it comes from errors of what ran there alone, as no other machine ran the same';

ALTER TABLE machine_effect_made ADD COLUMN is_stale boolean NOT NULL DEFAULT false;

COMMENT ON COLUMN machine_effect_made.is_stale IS 'Whether models have learnt runs since';
