create index products_by_created_at_down on products (created_at desc);
