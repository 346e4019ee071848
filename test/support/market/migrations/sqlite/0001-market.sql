create table users (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  email text not null,
  age integer,
  role text not null default 'user',
  status text not null default 'active',
  email_verified integer not null default 0,
  created_at integer not null,
  email_key text not null,
  revision integer not null default 1,
  constraint role_values check (role in ('user', 'admin')),
  constraint status_values check (status in ('active', 'suspended'))
) strict;

create unique index users_by_email_key on users (email_key);

create index users_by_name on users (name);

create index users_by_name_down on users (name desc);

create index users_by_email on users (email);

create index users_by_email_down on users (email desc);

create index users_by_age on users (age is null, age);

create index users_by_age_down on users (age is null desc, age desc);

create index users_by_created_at on users (created_at);

create index users_by_created_at_down on users (created_at desc);

create trigger users_count_insert after insert on users begin
  insert into counts (entity, field, value, n) values ('users', '', '', 1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'role', new.role, 1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'status', new.status, 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger users_count_delete after delete on users begin
  insert into counts (entity, field, value, n) values ('users', '', '', -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'role', old.role, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'status', old.status, -1)
    on conflict do update set n = n + excluded.n;
end;

create trigger users_count_role after update of role on users begin
  insert into counts (entity, field, value, n) values ('users', 'role', old.role, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'role', new.role, 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger users_count_status after update of status on users begin
  insert into counts (entity, field, value, n) values ('users', 'status', old.status, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('users', 'status', new.status, 1)
    on conflict do update set n = n + excluded.n;
end;

create table posts (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  title text not null,
  content text not null,
  author_id integer not null references users (id) on delete cascade,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index posts_by_author_id on posts (author_id);

create table comments (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  text text not null,
  post_id integer not null references posts (id) on delete cascade,
  author_id integer not null references users (id) on delete cascade,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index comments_by_post_id on comments (post_id);

create index comments_by_author_id on comments (author_id);

create table likes (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  user_id integer not null references users (id) on delete cascade,
  comment_id integer not null references comments (id) on delete cascade,
  created_at integer not null
) strict;

create index likes_by_user_id on likes (user_id);

create index likes_by_comment_id on likes (comment_id);

create unique index likes_by_user_id_comment_id on likes (user_id, comment_id);

create table products (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  category text not null,
  price integer not null,
  stock integer not null default 0,
  image text,
  created_at integer not null,
  name_key text not null,
  revision integer not null default 1
) strict;

create index products_by_price on products (price);

create index products_by_price_down on products (price desc);

create index products_by_name on products (name);

create index products_by_name_down on products (name desc);

create index products_by_created_at on products (created_at);

create index products_by_category on products (category);

create index products_by_category_price on products (category, price);

create index products_by_category_price_down on products (category, price desc);

create trigger products_count_insert after insert on products begin
  insert into counts (entity, field, value, n) values ('products', '', '', 1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('products', 'category', new.category, 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger products_count_delete after delete on products begin
  insert into counts (entity, field, value, n) values ('products', '', '', -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('products', 'category', old.category, -1)
    on conflict do update set n = n + excluded.n;
end;

create trigger products_count_category after update of category on products begin
  insert into counts (entity, field, value, n) values ('products', 'category', old.category, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('products', 'category', new.category, 1)
    on conflict do update set n = n + excluded.n;
end;

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
