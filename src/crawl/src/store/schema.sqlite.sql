-- The tables of SQLite, version 2. Rows of `url` are appended in the order in which they are found.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  paused INTEGER NOT NULL DEFAULT 0,
  last_cycle_ms BIGINT,
  cycles BIGINT NOT NULL DEFAULT 0,
  last_error TEXT,
  -- Since when the operator has paused it.
  paused_ms BIGINT
);
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  authority TEXT NOT NULL UNIQUE,
  next_due_ms BIGINT,
  not_before_ms BIGINT NOT NULL DEFAULT 0,
  cause INTEGER NOT NULL DEFAULT 0,
  backoff_level INTEGER NOT NULL DEFAULT 0,
  trouble_ms BIGINT,
  errors INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  crawl_delay_ms BIGINT,
  elapsed_ms BIGINT NOT NULL DEFAULT 0,
  ip TEXT,
  fetched BIGINT NOT NULL DEFAULT 0,
  cycle_ms BIGINT NOT NULL DEFAULT 0,
  cycle_pages BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX host_due ON host (next_due_ms) WHERE next_due_ms IS NOT NULL;
CREATE TABLE host_site (
  host_id BIGINT NOT NULL,
  site_id BIGINT NOT NULL,
  PRIMARY KEY (site_id, host_id)
);
CREATE TABLE url (
  id INTEGER PRIMARY KEY,
  host_id BIGINT NOT NULL,
  hash BIGINT NOT NULL,
  url TEXT NOT NULL,
  site_id BIGINT NOT NULL,
  class INTEGER NOT NULL,
  state INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  due_ms BIGINT,
  hops INTEGER NOT NULL,
  redirects INTEGER NOT NULL,
  via BIGINT,
  -- What the page that offers an attachment says of it, as JSON.
  announced TEXT,
  first_seen_ms BIGINT NOT NULL,
  crashes INTEGER NOT NULL DEFAULT 0,
  interval_ms BIGINT NOT NULL DEFAULT 0,
  status INTEGER,
  etag TEXT,
  last_modified TEXT,
  digest BIGINT,
  fetched_ms BIGINT,
  changed_ms BIGINT,
  not_found_since_ms BIGINT,
  unchanged INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0,
  documented INTEGER NOT NULL DEFAULT 0,
  target TEXT,
  error TEXT,
  -- Word of the failure and number of the byte at which the body of the last response ended too early.
  cut_failure TEXT,
  cut_bytes BIGINT,
  content BIGINT,
  alias_of BIGINT,
  -- When the page last showed its document, and a digest of what it shows instead.
  confirmed_ms BIGINT,
  answer BIGINT,
  -- Template that its document was read with, 0 where none fitted, and when that had last changed.
  template_id BIGINT,
  template_ms BIGINT
);
CREATE INDEX url_due ON url (host_id, rank, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX url_hub ON url (site_id, class) WHERE class < 4;
CREATE INDEX url_content ON url (site_id, content) WHERE documented = 1 AND content IS NOT NULL;
CREATE INDEX url_alias ON url (alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX url_canonical ON url (target) WHERE documented = 1 AND target IS NOT NULL;
CREATE INDEX url_answer ON url (site_id, answer) WHERE answer IS NOT NULL;
CREATE INDEX url_template ON url (site_id, template_id, template_ms) WHERE documented = 1;
CREATE TABLE counter (
  site_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  value BIGINT NOT NULL,
  PRIMARY KEY (site_id, name)
);
-- Fingerprints of all URLs in sorted runs (see keys.rs).
CREATE TABLE seen (
  id INTEGER PRIMARY KEY,
  entries BLOB NOT NULL
);
CREATE TABLE seen_run (
  run INTEGER PRIMARY KEY,
  entries BIGINT NOT NULL
);
-- Followers of topics, and what they were notified of.
CREATE TABLE follow (
  name TEXT PRIMARY KEY,
  asked TEXT NOT NULL,
  seq BIGINT NOT NULL,
  fetched_ms BIGINT NOT NULL,
  deliveries BIGINT NOT NULL DEFAULT 0,
  told BIGINT NOT NULL DEFAULT 0,
  given_up BIGINT NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  next_ms BIGINT NOT NULL DEFAULT 0,
  told_ms BIGINT,
  last_error TEXT,
  -- How far the log was searched for documents that are gone.
  log_seq BIGINT NOT NULL
);
CREATE TABLE follow_hit (
  id INTEGER PRIMARY KEY,
  follow TEXT NOT NULL,
  fingerprint BIGINT NOT NULL,
  delivery BIGINT,
  state INTEGER NOT NULL,
  -- What happened to the document; whether the follower was notified of it before; the change to report once the delivery
  -- that it is in has ended.
  change INTEGER NOT NULL DEFAULT 0,
  known INTEGER NOT NULL DEFAULT 0,
  later INTEGER
);
CREATE UNIQUE INDEX follow_hit_key ON follow_hit (follow, fingerprint);
CREATE INDEX follow_hit_waiting ON follow_hit (follow, delivery) WHERE state = 0;
-- Templates, the pages that they are learned from, how pages fit.
CREATE TABLE template (
  id INTEGER PRIMARY KEY,
  site TEXT NOT NULL,
  version BIGINT NOT NULL,
  learned_ms BIGINT NOT NULL,
  pages BIGINT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  data BLOB NOT NULL,
  -- When a person last named or labelled something of it, or took it into use again; 0 before that.
  changed_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX template_site ON template (site, version);
CREATE TABLE template_page (
  id INTEGER PRIMARY KEY,
  site TEXT NOT NULL,
  template_id BIGINT,
  url TEXT NOT NULL,
  seen_ms BIGINT NOT NULL,
  seen BLOB NOT NULL,
  html BLOB
);
CREATE INDEX template_page_site ON template_page (site, template_id);
CREATE INDEX template_page_template ON template_page (template_id) WHERE template_id IS NOT NULL;
CREATE TABLE template_fit (
  site TEXT PRIMARY KEY,
  matched BIGINT NOT NULL,
  unmatched BIGINT NOT NULL,
  note TEXT,
  note_ms BIGINT
);
-- URLs that were taken down; `named` is the fingerprint of the URL that the operator named, shared by the other URLs of the
-- same document.
CREATE TABLE takedown (
  fingerprint INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  named BIGINT NOT NULL,
  at_ms BIGINT NOT NULL
);
CREATE INDEX takedown_named ON takedown (named);
-- The log of documents: a row for each version.
CREATE TABLE document (
  seq INTEGER PRIMARY KEY,
  fingerprint BIGINT NOT NULL,
  state INTEGER NOT NULL,
  version BIGINT NOT NULL,
  first_seq BIGINT NOT NULL,
  first_seen_ms BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  ended_ms BIGINT,
  url TEXT NOT NULL,
  site TEXT NOT NULL,
  body BLOB
);
CREATE UNIQUE INDEX document_latest ON document (fingerprint) WHERE state <> 1;
CREATE INDEX document_replaced ON document (fingerprint, seq) WHERE state = 1;
CREATE INDEX document_ended ON document (state, ended_ms) WHERE ended_ms IS NOT NULL;
-- What compresses documents: what those of this store have in common.
CREATE TABLE dictionary (
  id INTEGER PRIMARY KEY,
  made_at BIGINT NOT NULL,
  data BLOB NOT NULL
);
-- The key of the fingerprints, in halves (see addresses.rs); no other store has it.
INSERT INTO meta (name, value) VALUES
  ('url_id', 0), ('store_id', random()), ('fingerprint_key_1', random()), ('fingerprint_key_2', random());
