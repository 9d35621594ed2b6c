-- The job database. One row a job: what ran, on what, and what came out, with raw numbers and units.
-- Version: PRAGMA user_version; application: PRAGMA application_id ('KRAT'). Both are set by
-- database.cpp in the transaction that runs this file. A change here raises kSchemaVersion there.

CREATE TABLE campaign (
  id       INTEGER PRIMARY KEY,
  kind     TEXT NOT NULL CHECK (kind IN ('study', 'import')),
  preset   TEXT NOT NULL,      -- 'quick', 'seed', 'full'; the file's name for an import
  machines TEXT NOT NULL,      -- 'cpu,trn1,trn2': the axes that were asked for
  version  TEXT NOT NULL,      -- program version: release and hash of the sources
  commit_  TEXT NOT NULL,      -- git commit of the build, '-dirty' if the tree had changes
  cpu      TEXT NOT NULL,      -- processor of the host that ran it
  started  TEXT NOT NULL       -- UTC, ISO 8601
);

CREATE TABLE job (
  id         INTEGER PRIMARY KEY,
  campaign   INTEGER NOT NULL REFERENCES campaign (id),
  key        TEXT NOT NULL,    -- hash of everything that determines the result, 16 hex digits
  kind       TEXT NOT NULL CHECK (kind IN ('predict', 'measure')),
  operator   TEXT NOT NULL,
  context    TEXT NOT NULL,    -- 'alone'
  machine    TEXT NOT NULL,    -- 'cpu', or a generation
  variant    TEXT NOT NULL,    -- kernel; on the CPU 'naive', 'compiler', 'custom'
  role       TEXT NOT NULL CHECK (role IN ('naive', 'compiler', 'custom', 'probe')),
  shape      TEXT NOT NULL,    -- JSON object: parameters of the operator, values as text
  tuning     TEXT NOT NULL,    -- JSON object: parameters of the kernel
  rounding   INTEGER NOT NULL, -- 0: 16-bit floats keep f32 values
  seed       INTEGER NOT NULL, -- of the random inputs
  table_hash TEXT NOT NULL,    -- of the machine's table, 16 hex digits; empty on the CPU
  host       TEXT NOT NULL,    -- processor and threads of a measured job; empty if predicted
  version    TEXT NOT NULL,    -- program version
  command    TEXT NOT NULL,    -- the line that makes this result again
  commit_    TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
  result     TEXT NOT NULL,    -- JSON object, empty while pending
  created    TEXT NOT NULL,
  finished   TEXT NOT NULL,    -- empty while pending
  UNIQUE (campaign, key)
);

CREATE INDEX job_key ON job (key);
