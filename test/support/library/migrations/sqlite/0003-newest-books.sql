create index books_by_shelved_at_down on books (shelved_at desc);
