create table notes (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  text text not null,
  created_at integer not null
) strict;

create index notes_by_created_at on notes (created_at);

create index notes_by_created_at_down on notes (created_at desc);
