-- The subjects that ever had a row of the viewers, as SHA-256 digests: a row that was deleted is not made again.

create table viewer_subjects (
  digest text collate "C" primary key
);
