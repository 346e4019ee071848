-- What the service keeps beside the content. Stores made before this history have these tables already.

create extension if not exists pg_trgm;

create sequence if not exists counts_part minvalue 16;

create table if not exists counts (
  entity text collate "C" not null,
  field text collate "C" not null,
  value text collate "C" not null,
  part bigint not null,
  n bigint not null,
  primary key (entity, field, value, part)
) with (fillfactor = 50);

create table if not exists secrets (
  name text collate "C" primary key,
  value bytea not null
);

-- How far each table is while another store is moved into this one; empty at all other times.
create table if not exists moves (
  name text collate "C" primary key,
  source text not null,
  last text
);

create unlogged table if not exists rates (
  "window" bigint not null,
  key text collate "C" not null,
  n bigint not null,
  primary key ("window", key)
);

create table if not exists replies (
  scope text collate "C" not null,
  key text collate "C" not null,
  fingerprint text not null,
  made_at bigint not null,
  status integer not null,
  body text not null,
  row_id bigint,
  revision bigint,
  primary key (scope, key)
);

create index if not exists replies_by_made_at on replies (made_at);
