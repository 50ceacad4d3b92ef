-- Lists tell what each simulation plays without its request being read.
ALTER TABLE simulation ADD COLUMN kind text COLLATE "C";

COMMENT ON COLUMN simulation.kind IS 'What is simulated, a name of POST /v1/simulations; null: not known, it was stored earlier; no unit';
