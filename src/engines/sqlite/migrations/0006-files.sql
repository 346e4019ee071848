-- The bytes that the store of files has, by their SHA-256, with when they were last taken on; and uploads that wait for their row.

create table files (
  digest text primary key,
  bytes integer not null,
  stored_at integer not null
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
