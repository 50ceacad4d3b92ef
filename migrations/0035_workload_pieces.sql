-- A long workload is stored in pieces, as no value may have more than 1 GiB.
ALTER TABLE workload ADD COLUMN piece_bytes bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN workload.document IS 'The text as it was given, if it is short; else empty, see workload_piece; no unit';
COMMENT ON COLUMN workload.piece_bytes IS 'Length of the text in pieces, bytes; 0: there are none';

CREATE TABLE workload_piece (
    tenant text COLLATE "C" NOT NULL,
    workload_id text COLLATE "C" NOT NULL,
    piece_number bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant, workload_id, piece_number),
    FOREIGN KEY (tenant, workload_id) REFERENCES workload ON DELETE CASCADE
);

COMMENT ON TABLE workload_piece IS 'Pieces of long workloads';
COMMENT ON COLUMN workload_piece.tenant IS 'Owner; no unit';
COMMENT ON COLUMN workload_piece.workload_id IS 'Name of the workload; no unit';
COMMENT ON COLUMN workload_piece.piece_number IS 'Place in the text, from 0; no unit';
COMMENT ON COLUMN workload_piece.content IS 'At most 8 MiB of the text as it was given; no unit';
