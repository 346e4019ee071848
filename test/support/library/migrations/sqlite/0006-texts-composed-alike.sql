alter table books add column isbn_nfc text;

alter table subjects add column word_nfc text;

create unique index books_by_isbn_nfc on books (isbn_nfc);

create unique index subjects_by_word_nfc on subjects (word_nfc);
