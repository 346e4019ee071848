create table authors (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  born integer,
  biography text not null default '',
  teacher_id integer references authors (id) on delete set null,
  noted_at integer not null,
  revision integer not null default 1
) strict;

create index authors_by_teacher_id on authors (teacher_id);

create index authors_by_name on authors (name);

create index authors_by_name_down on authors (name desc);

create index authors_by_born on authors (born is null, born);

create index authors_by_born_down on authors (born is null desc, born desc);

create trigger authors_count_insert after insert on authors begin
  insert into counts (entity, field, value, n) values ('authors', '', '', 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger authors_count_delete after delete on authors begin
  insert into counts (entity, field, value, n) values ('authors', '', '', -1)
    on conflict do update set n = n + excluded.n;
end;

create table books (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  title text not null,
  isbn text not null,
  author_id integer not null references authors (id) on delete restrict,
  language text not null default 'en',
  pages integer,
  shelf integer not null default 0,
  lendable integer not null default 1,
  shelved_at integer not null,
  title_key text not null,
  revision integer not null default 1
) strict;

create unique index books_by_isbn on books (isbn);

create index books_by_author_id on books (author_id);

create index books_by_title on books (title);

create index books_by_title_down on books (title desc);

create index books_by_pages on books (pages is null, pages);

create index books_by_pages_down on books (pages is null desc, pages desc);

create index books_by_shelved_at on books (shelved_at);

create index books_by_language_pages_down on books (language, pages desc);

create trigger books_count_insert after insert on books begin
  insert into counts (entity, field, value, n) values ('books', '', '', 1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('books', 'language', new.language, 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger books_count_delete after delete on books begin
  insert into counts (entity, field, value, n) values ('books', '', '', -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('books', 'language', old.language, -1)
    on conflict do update set n = n + excluded.n;
end;

create trigger books_count_language after update of language on books begin
  insert into counts (entity, field, value, n) values ('books', 'language', old.language, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('books', 'language', new.language, 1)
    on conflict do update set n = n + excluded.n;
end;

create virtual table books_title_key_search using fts5 (title_key, content = 'books', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1');

create trigger books_title_key_search_insert after insert on books begin
  insert into books_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create trigger books_title_key_search_delete after delete on books begin
  insert into books_title_key_search (books_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
end;

create trigger books_title_key_search_update after update of title_key on books begin
  insert into books_title_key_search (books_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
  insert into books_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create table members (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  address text not null,
  is_welcome integer not null default 0,
  standing text not null default 'good',
  joined_at integer not null,
  revision integer not null default 1
) strict;

create trigger members_count_insert after insert on members begin
  insert into counts (entity, field, value, n) values ('members', '', '', 1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('members', 'standing', new.standing, 1)
    on conflict do update set n = n + excluded.n;
end;

create trigger members_count_delete after delete on members begin
  insert into counts (entity, field, value, n) values ('members', '', '', -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('members', 'standing', old.standing, -1)
    on conflict do update set n = n + excluded.n;
end;

create trigger members_count_standing after update of standing on members begin
  insert into counts (entity, field, value, n) values ('members', 'standing', old.standing, -1)
    on conflict do update set n = n + excluded.n;
  insert into counts (entity, field, value, n) values ('members', 'standing', new.standing, 1)
    on conflict do update set n = n + excluded.n;
end;

create table loans (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  book_id integer not null references books (id) on delete restrict,
  member_id integer not null references members (id) on delete cascade,
  state text not null default 'out',
  note text,
  lent_at integer not null,
  due_at integer,
  revision integer not null default 1
) strict;

create index loans_by_book_id on loans (book_id);

create index loans_by_member_id on loans (member_id);

create index loans_by_state on loans (state);

create table stamps (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  loan_id integer not null references loans (id) on delete restrict,
  word text not null,
  at integer not null
) strict;

create index stamps_by_loan_id on stamps (loan_id);

create trigger stamps_no_update before update on stamps begin
  select raise(abort, 'stamps are only ever added');
end;

create trigger stamps_no_delete before delete on stamps begin
  select raise(abort, 'stamps are only ever added');
end;

create table subjects (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  word text not null
) strict;

create unique index subjects_by_word on subjects (word);

create table book_subjects (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  book_id integer not null references books (id) on delete cascade,
  subject_id integer not null references subjects (id) on delete cascade,
  filed_at integer not null
) strict;

create index book_subjects_by_book_id on book_subjects (book_id);

create index book_subjects_by_subject_id on book_subjects (subject_id);

create unique index book_subjects_by_book_id_subject_id on book_subjects (book_id, subject_id);
