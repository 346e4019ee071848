-- outside a transaction
create unique index concurrently if not exists tags_by_name_nfc on tags (name_nfc);
