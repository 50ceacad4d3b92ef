-- What moving running applications cost, and how long jobs waited in batch queues: plans
-- learn their costs from these.

CREATE SEQUENCE reschedule_event_row_id CACHE 1000;

CREATE TABLE reschedule_event (
    tenant text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    from_site_id text COLLATE "C" NOT NULL,
    to_site_id text COLLATE "C" NOT NULL,
    phase integer,
    checkpoint_bytes double precision,
    cost_s double precision NOT NULL,
    predicted_saving_s double precision,
    moved_at timestamptz NOT NULL,
    row_id bigint NOT NULL DEFAULT nextval('reschedule_event_row_id')
) PARTITION BY RANGE (moved_at);

COMMENT ON TABLE reschedule_event IS 'One move of a running application to other machines; one row each';
COMMENT ON COLUMN reschedule_event.tenant IS 'Owner; no unit';
COMMENT ON COLUMN reschedule_event.run_id IS 'The caller''s name of the run of the application; no unit';
COMMENT ON COLUMN reschedule_event.from_site_id IS 'The site that it left; no unit';
COMMENT ON COLUMN reschedule_event.to_site_id IS 'The site that it went to; the same: to other machines there; no unit';
COMMENT ON COLUMN reschedule_event.phase IS 'Phase at whose end it moved, counted from 1; null: not known';
COMMENT ON COLUMN reschedule_event.checkpoint_bytes IS 'Size of the checkpoint that moved, in bytes; null: not known';
COMMENT ON COLUMN reschedule_event.cost_s IS 'Time from its stop until it went on, in seconds';
COMMENT ON COLUMN reschedule_event.predicted_saving_s IS 'Time that the move was to save, in seconds; null: not known';
COMMENT ON COLUMN reschedule_event.moved_at IS 'Instant when it stopped, to the microsecond';
COMMENT ON COLUMN reschedule_event.row_id IS 'Tells rows of the same instant apart, for paging; no unit';

CREATE UNIQUE INDEX reschedule_event_run ON reschedule_event (tenant, run_id, moved_at);
CREATE TABLE reschedule_event_default PARTITION OF reschedule_event DEFAULT;

-- A plan reads one row for each pair of sites, however many moves there were, and the
-- mean outlives the events.
CREATE TABLE reschedule_cost (
    tenant text COLLATE "C" NOT NULL,
    from_site_id text COLLATE "C" NOT NULL,
    to_site_id text COLLATE "C" NOT NULL,
    event_count bigint NOT NULL,
    mean_cost_s double precision NOT NULL,
    PRIMARY KEY (tenant, from_site_id, to_site_id)
);

COMMENT ON TABLE reschedule_cost IS 'Running mean of what moves between two sites, or within one, cost; one row for each pair';
COMMENT ON COLUMN reschedule_cost.tenant IS 'Owner; no unit';
COMMENT ON COLUMN reschedule_cost.from_site_id IS 'The site that they left; no unit';
COMMENT ON COLUMN reschedule_cost.to_site_id IS 'The site that they went to; the same: to other machines there; no unit';
COMMENT ON COLUMN reschedule_cost.event_count IS 'Number of moves so far; no unit';
COMMENT ON COLUMN reschedule_cost.mean_cost_s IS 'Mean of their costs, in seconds';

-- In the order of the key, so that two statements cannot wait for each other.
CREATE FUNCTION reschedule_event_to_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reschedule_cost AS known
    SELECT tenant, from_site_id, to_site_id, count(*), avg(cost_s)
    FROM new_event GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (tenant, from_site_id, to_site_id) DO UPDATE SET
        event_count = known.event_count + excluded.event_count,
        mean_cost_s = known.mean_cost_s + (excluded.mean_cost_s - known.mean_cost_s)
            * excluded.event_count / (known.event_count + excluded.event_count);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION reschedule_event_to_cost IS 'Adds new moves to the running means';

CREATE TRIGGER reschedule_event_to_cost AFTER INSERT ON reschedule_event
    REFERENCING NEW TABLE AS new_event
    FOR EACH STATEMENT EXECUTE FUNCTION reschedule_event_to_cost();

ALTER TABLE execution ADD COLUMN queue_wait_s double precision;

COMMENT ON COLUMN execution.queue_wait_s IS 'Time that it waited in a batch queue before it started, in seconds; null: none, or not known';

CREATE INDEX execution_queue_wait ON execution (tenant, site_id, started_at)
    WHERE queue_wait_s IS NOT NULL;
