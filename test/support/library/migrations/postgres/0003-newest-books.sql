-- outside a transaction
create index concurrently if not exists books_by_shelved_at_down on books (shelved_at desc, id);
