alter table recipes add column cover text collate "C";
