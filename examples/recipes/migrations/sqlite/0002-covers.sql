alter table recipes add column cover text;
