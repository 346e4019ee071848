create table authors (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  slug text not null,
  email text not null,
  email_key text not null,
  email_verified integer not null default 0,
  role text not null default 'author',
  revision integer not null default 1,
  constraint role_values check (role in ('author', 'editor'))
) strict;

create unique index authors_by_slug on authors (slug);

create unique index authors_by_email_key on authors (email_key);

create table tags (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  slug text not null,
  revision integer not null default 1
) strict;

create unique index tags_by_name on tags (name);

create unique index tags_by_slug on tags (slug);

create table posts (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  title text not null,
  slug text not null,
  body text not null,
  status text not null default 'draft',
  author_id integer not null references authors (id) on delete cascade,
  published_at integer,
  created_at integer not null,
  updated_at integer not null,
  title_key text not null,
  revision integer not null default 1,
  constraint status_values check (status in ('draft', 'published', 'archived'))
) strict;

create unique index posts_by_slug on posts (slug);

create index posts_by_author_id on posts (author_id);

create index posts_by_created_at on posts (created_at);

create index posts_by_created_at_down on posts (created_at desc);

create virtual table posts_title_key_search using fts5 (title_key, content = 'posts', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1');

create trigger posts_title_key_search_insert after insert on posts begin
  insert into posts_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create trigger posts_title_key_search_delete after delete on posts begin
  insert into posts_title_key_search (posts_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
end;

create trigger posts_title_key_search_update after update of title_key on posts begin
  insert into posts_title_key_search (posts_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
  insert into posts_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create table post_tags (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  post_id integer not null references posts (id) on delete cascade,
  tag_id integer not null references tags (id) on delete cascade
) strict;

create index post_tags_by_post_id on post_tags (post_id);

create index post_tags_by_tag_id on post_tags (tag_id);

create unique index post_tags_by_post_id_tag_id on post_tags (post_id, tag_id);

create table comments (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  text text not null,
  post_id integer not null references posts (id) on delete cascade,
  author_id integer not null references authors (id) on delete cascade,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index comments_by_post_id on comments (post_id);

create index comments_by_author_id on comments (author_id);

create index comments_by_created_at on comments (created_at);

create index comments_by_created_at_down on comments (created_at desc);
