alter table books add column subtitle text;
alter table books add column donor text;
