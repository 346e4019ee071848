-- What is to be done after the commits that asked for it; one that was given up has no time when it is due.

create table outbox (
  id text collate "C" primary key,
  effect text collate "C" not null,
  payload text collate "C" not null,
  due_at bigint,
  tries bigint not null default 0
);

create index outbox_by_due_at on outbox (due_at);
