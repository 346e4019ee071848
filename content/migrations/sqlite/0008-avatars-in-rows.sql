alter table users add column avatar text;
