create table customers (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  email text not null,
  email_key text not null,
  email_verified integer not null default 0,
  role text not null default 'customer',
  revision integer not null default 1,
  constraint role_values check (role in ('customer', 'keeper'))
) strict;

create unique index customers_by_email_key on customers (email_key);

create virtual table customers_email_key_search using fts5 (email_key, content = 'customers', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1');

create trigger customers_email_key_search_insert after insert on customers begin
  insert into customers_email_key_search (rowid, email_key) values (new.id, new.email_key);
end;

create trigger customers_email_key_search_delete after delete on customers begin
  insert into customers_email_key_search (customers_email_key_search, rowid, email_key) values ('delete', old.id, old.email_key);
end;

create trigger customers_email_key_search_update after update of email_key on customers begin
  insert into customers_email_key_search (customers_email_key_search, rowid, email_key) values ('delete', old.id, old.email_key);
  insert into customers_email_key_search (rowid, email_key) values (new.id, new.email_key);
end;

create table products (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  slug text not null,
  price integer not null,
  stock integer not null,
  created_at integer not null,
  name_key text not null,
  revision integer not null default 1
) strict;

create unique index products_by_slug on products (slug);

create index products_by_created_at on products (created_at);

create index products_by_created_at_down on products (created_at desc);

create virtual table products_name_key_search using fts5 (name_key, content = 'products', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1');

create trigger products_name_key_search_insert after insert on products begin
  insert into products_name_key_search (rowid, name_key) values (new.id, new.name_key);
end;

create trigger products_name_key_search_delete after delete on products begin
  insert into products_name_key_search (products_name_key_search, rowid, name_key) values ('delete', old.id, old.name_key);
end;

create trigger products_name_key_search_update after update of name_key on products begin
  insert into products_name_key_search (products_name_key_search, rowid, name_key) values ('delete', old.id, old.name_key);
  insert into products_name_key_search (rowid, name_key) values (new.id, new.name_key);
end;

create table orders (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  customer_id integer not null references customers (id) on delete cascade,
  product_id integer not null references products (id) on delete restrict,
  pieces integer not null,
  price integer not null,
  total integer generated always as ((price * pieces)) virtual not null,
  status text not null default 'placed',
  created_at integer not null,
  constraint status_values check (status in ('placed', 'cancelled'))
) strict;

create index orders_by_customer_id on orders (customer_id);

create index orders_by_product_id on orders (product_id);

create index orders_by_created_at on orders (created_at);

create index orders_by_created_at_down on orders (created_at desc);
