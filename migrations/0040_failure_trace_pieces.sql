-- Failure traces are stored in pieces as workloads are (0035).
ALTER TABLE failure_trace ADD COLUMN piece_bytes bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN failure_trace.document IS 'The text as it was given, if it is short; else empty, see failure_trace_piece; no unit';
COMMENT ON COLUMN failure_trace.piece_bytes IS 'Length of the text in pieces, bytes; 0: there are none';

CREATE TABLE failure_trace_piece (
    tenant text COLLATE "C" NOT NULL,
    failure_trace_id text COLLATE "C" NOT NULL,
    piece_number bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant, failure_trace_id, piece_number),
    FOREIGN KEY (tenant, failure_trace_id) REFERENCES failure_trace ON DELETE CASCADE
);

COMMENT ON TABLE failure_trace_piece IS 'Pieces of long failure traces';
COMMENT ON COLUMN failure_trace_piece.tenant IS 'Owner; no unit';
COMMENT ON COLUMN failure_trace_piece.failure_trace_id IS 'Name of the failure trace; no unit';
COMMENT ON COLUMN failure_trace_piece.piece_number IS 'Place in the text, from 0; no unit';
COMMENT ON COLUMN failure_trace_piece.content IS 'At most 8 MiB of the text as it was given; no unit';
