-- The schema of a trace, format version 3. The library executes this very file; docs/trace-format.md explains it.
-- Times are nanoseconds since the Unix epoch; 0 means not known.
PRAGMA application_id = 0x494E5154;  -- "INQT"
PRAGMA user_version = 3;             -- the format version

-- What is known without reading a record. Rewritten with every batch, in the batch's own transaction, so it is also
-- right while the trace is being recorded and after a crash. Every later format keeps the table and the keys format,
-- minimum_reader and writer, so that any reader can say what it needs.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value             -- format, minimum_reader, start, end, records, batches, body_bytes: integers
                    -- uuid, writer, cluster_version, server, scope: text
                    -- state: 'open' until the recorder closed it, then 'closed'; 'recovered' after a repair
                    -- index: 'none' until the trace is closed, then 'whole' or 'partial', see table pod
                    -- chain: the last batch's; dictionary_sha, index_sha: SHA-256 over tables dictionary, and label,
                    -- pod, bind and gap, '' if there are none; digest: SHA-256 over meta, stream, counts, bind_count
                    -- and loss (all in hexadecimal)
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
  body_crc   INTEGER NOT NULL,     -- CRC32C of its body.data, one part after another
  crc        INTEGER NOT NULL,     -- CRC32C of the columns above and of facts
  chain      BLOB NOT NULL,        -- SHA-256 of the previous batch's chain, the columns above, facts and the bodies' SHA-256
  facts      BLOB NOT NULL         -- zstd of one Cap'n Proto message, Batch in trace.capnp
);

-- What came, byte for byte: apart from the facts, because whoever walks a trace seldom needs it.
CREATE TABLE body (
  id   INTEGER PRIMARY KEY,  -- batch.id * 1024 + part; parts are 0, 1, 2, … and only a large batch has more than one
  data BLOB NOT NULL         -- the parts in order: zstd of all bodies in record order, a line feed after each
);

-- What small batches are compressed with, while a trace is recorded. Empty in a trace of large batches.
CREATE TABLE dictionary (
  id   INTEGER PRIMARY KEY,  -- 1: for bodies, 2: for facts; the zstd frames that need it name it as 32768 + id
  data BLOB NOT NULL
);

-- The index: for people with sqlite3 alone, written when the trace is closed; views pods, binds, gaps and life show it.
-- The library does not read it. It holds the first 500,000 pods and as many binds; meta.index says if there are more.
-- Columns *_ms are milliseconds since meta.start. A seq of 0: did not happen.
CREATE TABLE label (
  id   INTEGER PRIMARY KEY,  -- 0: none
  text TEXT NOT NULL
);

CREATE TABLE pod (
  id           INTEGER PRIMARY KEY,  -- 1, 2, 3, … in order of first appearance
  uid,                               -- 16 bytes if it is a UUID as usual, else text
  namespace    INTEGER NOT NULL,     -- label
  prefix       INTEGER NOT NULL,     -- label: the name up to its last '-'
  suffix       TEXT NOT NULL,        -- the rest of the name
  node         INTEGER NOT NULL,     -- label: the node last seen
  first_seq    INTEGER NOT NULL,     -- the first record that holds the pod, a list or a frame
  first_ms     INTEGER NOT NULL,
  bound_seq    INTEGER NOT NULL,     -- the first that shows it on a node
  bound_ms     INTEGER NOT NULL,
  deleting_seq INTEGER NOT NULL,     -- the first that shows a deletionTimestamp
  deleted_seq  INTEGER NOT NULL,     -- its DELETED frame
  deleted_ms   INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL      -- the last record that holds it
);

CREATE TABLE bind (
  seq         INTEGER PRIMARY KEY,  -- of the request
  pod         INTEGER NOT NULL,     -- pod.id; 0: not among the pods
  node        INTEGER NOT NULL,     -- label
  scheduler   INTEGER NOT NULL,     -- label
  sent_ms     INTEGER NOT NULL,
  answer_seq  INTEGER NOT NULL,
  code        INTEGER NOT NULL,     -- HTTP status; 0: no answer seen, or a transport error
  answered_ms INTEGER NOT NULL
);

CREATE TABLE gap (
  seq     INTEGER PRIMARY KEY,
  stream  INTEGER NOT NULL,  -- stream.id
  from_rv INTEGER NOT NULL,  -- not seen: (from_rv, to_rv]
  to_rv   INTEGER NOT NULL,
  at_ms   INTEGER NOT NULL,
  why     TEXT NOT NULL
);

-- For people only; the library never reads a view.
CREATE VIEW streams AS
  SELECT id, CASE kind WHEN 0 THEN 'watch' WHEN 1 THEN 'bind log' WHEN 2 THEN 'audit' ELSE kind END AS kind,
         name, resource, source, lists, checkpoints, added, modified, deleted, bookmarks, errors, opens, closes, gaps,
         undecodable, bind_requests, bind_answers, observations, first_seq, last_seq, closed_at
  FROM stream JOIN counts ON counts.stream = stream.id;

CREATE VIEW batches AS
  SELECT id, first_seq, last_seq, datetime(first_wall / 1000000000, 'unixepoch') AS first_time,
         datetime(last_wall / 1000000000, 'unixepoch') AS last_time, length(facts) AS facts_stored,
         (SELECT sum(length(data)) FROM body WHERE body.id BETWEEN batch.id * 1024 AND batch.id * 1024 + 1023)
           AS bodies_stored,
         body_bytes
  FROM batch;

CREATE VIEW pods AS
  SELECT pod.id AS id,
         CASE typeof(uid) WHEN 'blob'
           THEN lower(substr(hex(uid), 1, 8) || '-' || substr(hex(uid), 9, 4) || '-' || substr(hex(uid), 13, 4) || '-' ||
             substr(hex(uid), 17, 4) || '-' || substr(hex(uid), 21))
           ELSE uid END AS uid,
         n.text AS namespace, p.text || suffix AS name, w.text AS node, first_seq, last_seq,
         strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + first_ms) / 1000.0, 'unixepoch') AS first_seen,
         bound_seq,
         CASE WHEN bound_seq > 0 THEN
           strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + bound_ms) / 1000.0, 'unixepoch') END AS bound,
         deleting_seq, deleted_seq,
         CASE WHEN deleted_seq > 0 THEN
           strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + deleted_ms) / 1000.0, 'unixepoch') END AS deleted
  FROM pod JOIN label AS n ON n.id = namespace JOIN label AS p ON p.id = prefix JOIN label AS w ON w.id = node
       JOIN meta AS s ON s.key = 'start';

CREATE VIEW binds AS
  SELECT bind.seq AS seq,
         strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + sent_ms) / 1000.0, 'unixepoch') AS sent,
         pods.uid AS uid, pods.namespace AS namespace, pods.name AS name, n.text AS node, c.text AS scheduler, code,
         answer_seq,
         CASE WHEN answer_seq > 0 THEN
           strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + answered_ms) / 1000.0, 'unixepoch') END AS answered
  FROM bind JOIN label AS n ON n.id = bind.node JOIN label AS c ON c.id = scheduler
       JOIN meta AS s ON s.key = 'start' LEFT JOIN pods ON pods.id = bind.pod;

CREATE VIEW gaps AS
  SELECT gap.seq AS seq, stream.name AS stream, from_rv, to_rv,
         strftime('%Y-%m-%d %H:%M:%f', (s.value / 1000000 + at_ms) / 1000.0, 'unixepoch') AS time, why
  FROM gap JOIN stream ON stream.id = gap.stream JOIN meta AS s ON s.key = 'start';

-- A pod's life: SELECT * FROM life WHERE name = 'web-1' ORDER BY seq;
CREATE VIEW life AS
  SELECT uid, namespace, name, first_seq AS seq, first_seen AS time, 'first seen' AS what FROM pods
  UNION ALL SELECT uid, namespace, name, bound_seq, bound, 'on node ' || node FROM pods WHERE bound_seq > 0
  UNION ALL SELECT uid, namespace, name, deleting_seq, NULL, 'being deleted' FROM pods WHERE deleting_seq > 0
  UNION ALL SELECT uid, namespace, name, deleted_seq, deleted, 'deleted' FROM pods WHERE deleted_seq > 0
  UNION ALL SELECT uid, namespace, name, seq, sent, scheduler || ' binds it to ' || node FROM binds
  UNION ALL SELECT uid, namespace, name, answer_seq, answered, 'answer ' || code FROM binds WHERE answer_seq > 0;
