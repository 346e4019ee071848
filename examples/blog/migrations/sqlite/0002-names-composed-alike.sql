alter table tags add column name_nfc text;

create unique index tags_by_name_nfc on tags (name_nfc);
