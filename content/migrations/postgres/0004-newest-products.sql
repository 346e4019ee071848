-- outside a transaction
create index concurrently if not exists products_by_created_at_down on products (created_at desc, id);
