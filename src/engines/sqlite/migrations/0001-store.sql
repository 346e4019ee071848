-- What the service keeps beside the content. Stores made before this history have these tables already.

create table if not exists counts (
  entity text not null,
  field text not null,
  value text not null,
  n integer not null,
  primary key (entity, field, value)
) strict, without rowid;

create table if not exists secrets (
  name text primary key,
  value blob not null
) strict;

create table if not exists replies (
  scope text not null,
  key text not null,
  fingerprint text not null,
  made_at integer not null,
  status integer not null,
  body text not null,
  row_id integer,
  revision integer,
  primary key (scope, key)
) strict;

create index if not exists replies_by_made_at on replies (made_at);
