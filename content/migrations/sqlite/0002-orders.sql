create table customers (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  email text,
  created_at integer not null,
  user_id integer references users (id) on delete set null
) strict;

create unique index customers_by_user_id on customers (user_id);

create table orders (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  status text not null default 'pending',
  amount integer not null,
  currency text not null,
  customer_id integer not null references customers (id) on delete restrict,
  created_at integer not null,
  paid_at integer,
  cancelled_at integer,
  refunded_at integer,
  revision integer not null default 1
) strict;

create index orders_by_customer_id on orders (customer_id);

create index orders_by_status on orders (status);

create index orders_by_created_at on orders (created_at);

create table order_items (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  order_id integer not null references orders (id) on delete cascade,
  product_id integer not null,
  name text not null,
  quantity integer not null,
  price integer not null
) strict;

create index order_items_by_order_id on order_items (order_id);

create index order_items_by_product_id on order_items (product_id);

create table order_events (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  order_id integer not null references orders (id) on delete restrict,
  at integer not null,
  by_user integer,
  from_status text,
  to_status text not null
) strict;

create index order_events_by_order_id on order_events (order_id);

create trigger order_events_no_update before update on order_events begin
  select raise(abort, 'order_events are only ever added');
end;

create trigger order_events_no_delete before delete on order_events begin
  select raise(abort, 'order_events are only ever added');
end;
