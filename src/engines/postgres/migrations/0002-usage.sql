-- Since when callers are told that a version is deprecated, and who still uses what is.

create table version_notices (
  version integer primary key,
  first_day text collate "C" not null
);

create table version_uses (
  day text collate "C" not null,
  api text collate "C" not null,
  member text collate "C" not null,
  viewer text collate "C" not null,
  n bigint not null,
  primary key (day, api, member, viewer)
);
