-- Since when callers are told that a version is deprecated, and who still uses what is.

create table version_notices (
  version integer primary key,
  first_day text not null
) strict;

create table version_uses (
  day text not null,
  api text not null,
  member text not null,
  viewer text not null,
  n integer not null,
  primary key (day, api, member, viewer)
) strict, without rowid;
