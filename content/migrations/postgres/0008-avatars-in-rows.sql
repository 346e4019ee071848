alter table users add column avatar text collate "C";
