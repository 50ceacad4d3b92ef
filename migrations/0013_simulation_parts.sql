-- What is complete of a simulation that runs without a client: who takes it up when its
-- owner has died goes on from there. Gone when the simulation has ended.
CREATE TABLE simulation_part (
    tenant text COLLATE "C" NOT NULL,
    simulation_id uuid NOT NULL,
    part_number bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant, simulation_id, part_number),
    FOREIGN KEY (tenant, simulation_id) REFERENCES simulation ON DELETE CASCADE
);

COMMENT ON TABLE simulation_part IS 'A part of an unfinished simulation that is complete; one row each';
COMMENT ON COLUMN simulation_part.tenant IS 'Owner; no unit';
COMMENT ON COLUMN simulation_part.simulation_id IS 'The simulation; no unit';
COMMENT ON COLUMN simulation_part.part_number IS 'Which part, from 0; of a grid: run times labels, plus label; no unit';
COMMENT ON COLUMN simulation_part.content IS 'What came out of it, in a form of the program''s own that begins with a mark of its version; no unit';
