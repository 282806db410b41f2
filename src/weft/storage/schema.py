"""The manifest's tables: every column that people may ask about, no data of the ledger twice.

A round owns a range of task ids (`first` … `first + size − 1`), so a task's row is found by
arithmetic and a lazy round of a million tasks needs no index. `task_view` joins them for readers.
"""

import re

SCHEMA_VERSION = 2
"""In version 1 a row's digest omits its state; such a run is read and continued in version 1."""
READABLE_VERSIONS = (1, 2)

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE lanes (
    id INTEGER PRIMARY KEY,
    parent INTEGER,            -- lane that opened it; NULL for the root
    round INTEGER,             -- the parent's round that is this set of lanes
    ordinal INTEGER NOT NULL,
    path TEXT NOT NULL UNIQUE,
    answer TEXT                -- body of its answer record, without totals
);
CREATE INDEX lanes_of ON lanes (parent, round, ordinal);

CREATE TABLE rounds (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL,        -- tasks | lanes
    size INTEGER,              -- NULL: rebuilt from a ledger that ends inside the round
    first INTEGER NOT NULL,    -- id of its task 0
    recorded INTEGER NOT NULL DEFAULT 0,   -- results accepted so far, in task order
    closed INTEGER NOT NULL DEFAULT 0,
    stopped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (lane, round)
);

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,       -- queued | running | completed | failed | cancelled | dropped
    key TEXT NOT NULL,
    function TEXT NOT NULL,
    args TEXT NOT NULL,
    value TEXT,
    error TEXT,
    digest TEXT,               -- of the six before it; NULL while queued or running
    attempt INTEGER NOT NULL DEFAULT 0,
    queued_at REAL, started_at REAL, finished_at REAL,  -- wall clock
    run_s REAL,                                         -- monotonic
    worker_pid INTEGER, worker_started REAL, node TEXT, gpu INTEGER,
    notes TEXT
);

CREATE TABLE attempts (        -- one row for each attempt that did not succeed
    task INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,     -- failed | requeued
    reason TEXT NOT NULL,
    detail TEXT,
    started_at REAL, finished_at REAL,
    worker_pid INTEGER, worker_started REAL, node TEXT, gpu INTEGER
);
CREATE INDEX attempts_of ON attempts (task);

CREATE TABLE events (          -- where something happened beyond the normal
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL, monotonic REAL NOT NULL,
    kind TEXT NOT NULL,
    task INTEGER,
    detail TEXT
);

CREATE TABLE heads (
    size INTEGER NOT NULL, root TEXT NOT NULL, commits INTEGER NOT NULL, at REAL NOT NULL
);

CREATE VIEW task_view AS
SELECT t.*, l.path AS lane, r.round AS round, t.id - r.first AS idx
FROM rounds r JOIN lanes l ON l.id = r.lane
JOIN tasks t ON t.id >= r.first AND t.id < r.first + coalesce(r.size, r.recorded)
WHERE r.kind = 'tasks';
"""

TABLE_NAMES = tuple(re.findall(r"^CREATE (?:TABLE|VIEW) (\w+)", TABLES, re.MULTILINE))
