alter table books add column subtitle text collate "C";
alter table books add column donor text collate "C";
