-- The bytes that the store of files has, by their SHA-256; and uploads that wait for their row.

create table files (
  digest text primary key,
  bytes integer not null,
  -- Null while a row names them; else from when on they may be collected, or, negative, since when they are being removed.
  collect_at integer
) strict, without rowid;

create table uploads (
  id text primary key,
  owner text not null,
  sender text not null,
  digest text not null,
  type text not null,
  bytes integer not null,
  stored text not null,
  created_at integer not null
) strict;

create index uploads_by_sender on uploads (sender);
create index uploads_by_created_at on uploads (created_at);
