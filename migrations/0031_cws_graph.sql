-- The graph of a run of nf-cws, so that any replica can rank its tasks.
CREATE TABLE cws_vertex (
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    uid bigint NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    label text COLLATE "C",
    kind text NOT NULL,
    PRIMARY KEY (tenant, run, uid),
    FOREIGN KEY (tenant, run) REFERENCES cws_run ON DELETE CASCADE
);

COMMENT ON TABLE cws_vertex IS 'Vertices of the graphs of registered runs; one row each';
COMMENT ON COLUMN cws_vertex.tenant IS 'Of its run; no unit';
COMMENT ON COLUMN cws_vertex.run IS 'Of its run; no unit';
COMMENT ON COLUMN cws_vertex.uid IS 'Nextflow''s number of it; no unit';
COMMENT ON COLUMN cws_vertex.seq IS 'Order of arrival, no unit';
COMMENT ON COLUMN cws_vertex.label IS 'Of a process: its name; null: it has none; no unit';
COMMENT ON COLUMN cws_vertex.kind IS 'PROCESS, OPERATOR, ORIGIN or NODE; no unit';

CREATE TABLE cws_edge (
    tenant text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    uid bigint NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    from_uid bigint NOT NULL,
    to_uid bigint NOT NULL,
    PRIMARY KEY (tenant, run, uid),
    FOREIGN KEY (tenant, run) REFERENCES cws_run ON DELETE CASCADE
);

COMMENT ON TABLE cws_edge IS 'Edges of the graphs of registered runs that have both ends; one row each';
COMMENT ON COLUMN cws_edge.tenant IS 'Of its run; no unit';
COMMENT ON COLUMN cws_edge.run IS 'Of its run; no unit';
COMMENT ON COLUMN cws_edge.uid IS 'Nextflow''s number of it; no unit';
COMMENT ON COLUMN cws_edge.seq IS 'Order of arrival, no unit';
COMMENT ON COLUMN cws_edge.from_uid IS 'The vertex that comes first; no unit';
COMMENT ON COLUMN cws_edge.to_uid IS 'The vertex that waits for it; no unit';

ALTER TABLE cws_task ADD COLUMN arrived_at timestamptz NOT NULL DEFAULT now();

COMMENT ON COLUMN cws_task.arrived_at IS 'Instant when it was registered first; of one stored earlier: of the migration';
