create table cooks (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  subject text not null,
  state text not null default 'in',
  revision integer not null default 1,
  constraint state_values check (state in ('in', 'out'))
) strict;

create unique index cooks_by_subject on cooks (subject);

create table recipes (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  title text not null,
  slug text not null,
  steps text not null,
  servings integer not null,
  notes text,
  status text not null default 'draft',
  cook_id integer not null references cooks (id) on delete cascade,
  rating_sum integer not null default 0,
  rating_count integer not null default 0,
  rating integer generated always as (case when rating_count > 0 then rating_sum / rating_count * 10000 + (2 * 10000 * (rating_sum % rating_count) + case when rating_sum < 0 then -rating_count else rating_count end) / (2 * rating_count) else null end) virtual,
  review_count integer not null default 0,
  published_at integer,
  created_at integer not null,
  updated_at integer not null,
  title_key text not null,
  revision integer not null default 1,
  title_words text,
  steps_words text,
  constraint status_values check (status in ('draft', 'published', 'archived'))
) strict;

create unique index recipes_by_slug on recipes (slug);

create index recipes_by_cook_id on recipes (cook_id);

create index recipes_by_title on recipes (title);

create index recipes_by_rating_down on recipes (rating is null desc, rating desc);

create index recipes_by_created_at_down on recipes (created_at desc);

create virtual table recipes_title_key_search using fts5 (title_key, content = 'recipes', content_rowid = 'id', columnsize = 0, tokenize = 'trigram case_sensitive 1');

create trigger recipes_title_key_search_insert after insert on recipes begin
  insert into recipes_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create trigger recipes_title_key_search_delete after delete on recipes begin
  insert into recipes_title_key_search (recipes_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
end;

create trigger recipes_title_key_search_update after update of title_key on recipes begin
  insert into recipes_title_key_search (recipes_title_key_search, rowid, title_key) values ('delete', old.id, old.title_key);
  insert into recipes_title_key_search (rowid, title_key) values (new.id, new.title_key);
end;

create virtual table recipes_steps_title_words_search using fts5 (steps_words, title_words, content = 'recipes', content_rowid = 'id', columnsize = 0, detail = none, prefix = '1 2', tokenize = 'ascii');

create trigger recipes_steps_title_words_search_insert after insert on recipes begin
  insert into recipes_steps_title_words_search (rowid, steps_words, title_words) values (new.id, new.steps_words, new.title_words);
end;

create trigger recipes_steps_title_words_search_delete after delete on recipes begin
  insert into recipes_steps_title_words_search (recipes_steps_title_words_search, rowid, steps_words, title_words) values ('delete', old.id, old.steps_words, old.title_words);
end;

create trigger recipes_steps_title_words_search_update after update of steps_words, title_words on recipes begin
  insert into recipes_steps_title_words_search (recipes_steps_title_words_search, rowid, steps_words, title_words) values ('delete', old.id, old.steps_words, old.title_words);
  insert into recipes_steps_title_words_search (rowid, steps_words, title_words) values (new.id, new.steps_words, new.title_words);
end;

create table ingredients (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  recipe_id integer not null references recipes (id) on delete cascade,
  name text not null,
  amount integer not null,
  unit text not null default 'g',
  revision integer not null default 1,
  constraint unit_values check (unit in ('g', 'ml', 'piece'))
) strict;

create index ingredients_by_recipe_id on ingredients (recipe_id);

create table tags (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  name text not null,
  slug text not null
) strict;

create unique index tags_by_slug on tags (slug);

create table recipe_tags (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  recipe_id integer not null references recipes (id) on delete cascade,
  tag_id integer not null references tags (id) on delete cascade
) strict;

create index recipe_tags_by_recipe_id on recipe_tags (recipe_id);

create index recipe_tags_by_tag_id on recipe_tags (tag_id);

create unique index recipe_tags_by_recipe_id_tag_id on recipe_tags (recipe_id, tag_id);

create table reviews (
  id integer primary key autoincrement check (id between 1 and 9007199254740991),
  recipe_id integer not null references recipes (id) on delete cascade,
  cook_id integer not null references cooks (id) on delete cascade,
  stars integer not null,
  text text,
  created_at integer not null,
  revision integer not null default 1
) strict;

create index reviews_by_recipe_id on reviews (recipe_id);

create index reviews_by_cook_id on reviews (cook_id);

create unique index reviews_by_recipe_id_cook_id on reviews (recipe_id, cook_id);

create trigger recipes_rating_kept_insert after insert on reviews begin
  update recipes set rating_sum = rating_sum + coalesce(new.stars, 0), rating_count = rating_count + case when new.stars is null then 0 else 1 end, revision = revision + 1 where id = new.recipe_id;
end;

create trigger recipes_rating_kept_delete after delete on reviews begin
  update recipes set rating_sum = rating_sum - coalesce(old.stars, 0), rating_count = rating_count - case when old.stars is null then 0 else 1 end, revision = revision + 1 where id = old.recipe_id;
end;

create trigger recipes_rating_kept_update after update of recipe_id, stars on reviews when old.recipe_id is not new.recipe_id or old.stars is not new.stars begin
  update recipes set rating_sum = rating_sum - coalesce(old.stars, 0), rating_count = rating_count - case when old.stars is null then 0 else 1 end, revision = revision + 1 where id = old.recipe_id;
  update recipes set rating_sum = rating_sum + coalesce(new.stars, 0), rating_count = rating_count + case when new.stars is null then 0 else 1 end, revision = revision + 1 where id = new.recipe_id;
end;

create trigger recipes_review_count_kept_insert after insert on reviews begin
  update recipes set review_count = review_count + 1, revision = revision + 1 where id = new.recipe_id;
end;

create trigger recipes_review_count_kept_delete after delete on reviews begin
  update recipes set review_count = review_count - 1, revision = revision + 1 where id = old.recipe_id;
end;

create trigger recipes_review_count_kept_update after update of recipe_id on reviews when old.recipe_id is not new.recipe_id begin
  update recipes set review_count = review_count - 1, revision = revision + 1 where id = old.recipe_id;
  update recipes set review_count = review_count + 1, revision = revision + 1 where id = new.recipe_id;
end;
