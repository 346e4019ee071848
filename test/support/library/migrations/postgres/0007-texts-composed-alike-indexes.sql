-- outside a transaction
create unique index concurrently if not exists books_by_isbn_nfc on books (isbn_nfc);

create unique index concurrently if not exists subjects_by_word_nfc on subjects (word_nfc);
