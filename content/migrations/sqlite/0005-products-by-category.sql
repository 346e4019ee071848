create index products_by_category on products (category);
