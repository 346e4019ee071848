create table avatars (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  user_id integer not null references users (id) on delete cascade,
  type text not null,
  digest text not null,
  created_at integer not null,
  bytes blob not null
) strict;

create unique index avatars_by_user_id on avatars (user_id);
