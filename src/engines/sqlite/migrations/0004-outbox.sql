-- What is to be done after the commits that asked for it; one that was given up has no time when it is due.

create table outbox (
  id text primary key,
  effect text not null,
  payload text not null,
  due_at integer,
  tries integer not null default 0
) strict;

create index outbox_by_due_at on outbox (due_at);
