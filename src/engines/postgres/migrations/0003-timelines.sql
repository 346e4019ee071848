-- The timelines of the cluster that this store is on, and where in the log each began. What names one that a replica
-- does not show yet is not answered by that replica.

create table timelines (
  system text collate "C" not null,
  timeline bigint not null,
  began text collate "C",
  primary key (system, timeline)
);
