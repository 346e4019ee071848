-- outside a transaction
create index concurrently if not exists products_by_category on products (category, id);
