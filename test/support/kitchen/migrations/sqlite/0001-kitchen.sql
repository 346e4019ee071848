create table cooks (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  subject text not null,
  name text not null,
  email text,
  state text not null default 'in',
  created_at integer not null,
  revision integer not null default 1,
  constraint state_values check (state in ('in', 'out'))
) strict;

create unique index cooks_by_subject on cooks (subject);

create unique index cooks_by_email on cooks (email);

create table dishes (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  title text not null,
  is_shared integer not null default 0,
  cook_id integer not null references cooks (id) on delete cascade,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index dishes_by_cook_id on dishes (cook_id);

create table spices (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  created_at integer not null,
  revision integer not null default 1
) strict;
