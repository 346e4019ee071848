-- The bytes that the store of files has, by their SHA-256, with when they were last taken on; and uploads that wait for their row.

create table files (
  digest text collate "C" primary key,
  bytes bigint not null,
  stored_at bigint not null
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
