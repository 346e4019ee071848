-- The views of lists that callers of the admin saved, by whose they are: a caller's own, or those of a role.

create table admin_views (
  owner text not null,
  entity text not null,
  name text not null,
  shows text not null,
  primary key (owner, entity, name)
) strict, without rowid;
