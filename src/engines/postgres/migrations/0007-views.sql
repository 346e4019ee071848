-- The views of lists that callers of the admin saved, by whose they are: a caller's own, or those of a role.

create table admin_views (
  owner text collate "C" not null,
  entity text collate "C" not null,
  name text collate "C" not null,
  shows text not null,
  primary key (owner, entity, name)
);
