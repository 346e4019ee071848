-- The bytes that the store of files has, by their SHA-256; and uploads that wait for their row.

create table files (
  digest text collate "C" primary key,
  bytes bigint not null,
  -- Null while a row names them; else from when on they may be collected, or, negative, since when they are being removed.
  collect_at bigint
);

create table uploads (
  id text collate "C" primary key,
  owner text collate "C" not null,
  sender text collate "C" not null,
  digest text collate "C" not null,
  type text collate "C" not null,
  bytes bigint not null,
  stored text collate "C" not null,
  created_at bigint not null
);

create index uploads_by_sender on uploads (sender);
create index uploads_by_created_at on uploads (created_at);
