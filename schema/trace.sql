-- The schema of a trace, format version 1. The library executes this very file; docs/trace-format.md explains it.
-- Times are nanoseconds since the Unix epoch; 0 means not known.
PRAGMA application_id = 0x494E5154;  -- "INQT"
PRAGMA user_version = 1;             -- the format version

-- What is known without reading a record. Rewritten with every batch, in the batch's own transaction, so it is also
-- right while the trace is being recorded and after a crash. Every later format keeps the table and the keys format,
-- minimum_reader and writer, so that any reader can say what it needs.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value             -- format, minimum_reader, start, end, records, batches, body_bytes: integers
                    -- uuid, writer, cluster_version, server, scope: text
                    -- state: 'open' until the recorder closed it, then 'closed'; 'recovered' after a repair
                    -- chain: the last batch's; digest: SHA-256 over meta, stream, counts, bind_count and loss
                    -- (both in hexadecimal)
) WITHOUT ROWID;

-- Conversations that records belong to.
CREATE TABLE stream (
  id       INTEGER PRIMARY KEY,  -- 1, 2, 3, …
  kind     INTEGER NOT NULL,     -- 0 a recorder's watch, 1 a scheduler's own log of its binds, 2 an audit log
  name     TEXT NOT NULL,
  resource TEXT NOT NULL,        -- pods, nodes, …; '' for binds
  source   TEXT NOT NULL         -- the file it was imported from
);

-- Records of each stream by kind.
CREATE TABLE counts (
  stream        INTEGER PRIMARY KEY,  -- stream.id
  lists         INTEGER NOT NULL,     -- that opened a watch
  checkpoints   INTEGER NOT NULL,     -- the other lists
  added         INTEGER NOT NULL,
  modified      INTEGER NOT NULL,
  deleted       INTEGER NOT NULL,
  bookmarks     INTEGER NOT NULL,
  errors        INTEGER NOT NULL,
  opens         INTEGER NOT NULL,
  closes        INTEGER NOT NULL,
  gaps          INTEGER NOT NULL,
  undecodable   INTEGER NOT NULL,
  bind_requests INTEGER NOT NULL,
  bind_answers  INTEGER NOT NULL,
  observations  INTEGER NOT NULL,     -- of binds, by this stream, in whichever stream the bind's record stands
  first_seq     INTEGER NOT NULL,     -- 0: no record
  last_seq      INTEGER NOT NULL,
  closed_at     INTEGER NOT NULL      -- the close after which it was not opened again; 0: none
);

-- Bind requests by who sent them and how they were answered.
CREATE TABLE bind_count (
  scheduler TEXT NOT NULL,
  code      INTEGER NOT NULL,  -- HTTP status; 0: no answer seen, or a transport error
  count     INTEGER NOT NULL,
  PRIMARY KEY (scheduler, code)
) WITHOUT ROWID;

-- What of the input could not be kept; with 'note: ' before it, what is not as it came without anything being missing
-- (redactions, made-up times).
CREATE TABLE loss (
  source TEXT NOT NULL,
  what   TEXT NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (source, what)
) WITHOUT ROWID;

-- The records, many at a time.
CREATE TABLE batch (
  id         INTEGER PRIMARY KEY,  -- 1, 2, 3, … without a hole
  first_seq  INTEGER NOT NULL,     -- the batch holds first_seq, first_seq + 1, … last_seq
  last_seq   INTEGER NOT NULL,
  first_wall INTEGER NOT NULL,     -- the earliest and latest wall time in it
  last_wall  INTEGER NOT NULL,
  body_bytes INTEGER NOT NULL,     -- of its bodies, uncompressed
  body_crc   INTEGER NOT NULL,     -- CRC32C of body.data
  crc        INTEGER NOT NULL,     -- CRC32C of the columns above and of facts
  chain      BLOB NOT NULL,        -- SHA-256 of the previous batch's chain, the columns above, facts and body.data
  facts      BLOB NOT NULL         -- zstd of one Cap'n Proto message, Batch in trace.capnp
);

-- What came, byte for byte: apart from the facts, because whoever walks a trace seldom needs it.
CREATE TABLE body (
  batch INTEGER PRIMARY KEY,  -- batch.id
  data  BLOB NOT NULL         -- zstd of all bodies in record order, a line feed after each
);

-- For people only; the library never reads a view.
CREATE VIEW streams AS
  SELECT id, CASE kind WHEN 0 THEN 'watch' WHEN 1 THEN 'bind log' WHEN 2 THEN 'audit' ELSE kind END AS kind,
         name, resource, source, lists, checkpoints, added, modified, deleted, bookmarks, errors, opens, closes, gaps,
         undecodable, bind_requests, bind_answers, observations, first_seq, last_seq, closed_at
  FROM stream JOIN counts ON counts.stream = stream.id;

CREATE VIEW batches AS
  SELECT id, first_seq, last_seq, datetime(first_wall / 1000000000, 'unixepoch') AS first_time,
         datetime(last_wall / 1000000000, 'unixepoch') AS last_time,
         length(facts) AS facts_stored, length(data) AS bodies_stored, body_bytes
  FROM batch JOIN body ON body.batch = batch.id;
