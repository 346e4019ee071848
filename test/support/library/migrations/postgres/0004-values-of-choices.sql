alter table loans add constraint state_values check (state in ('out', 'back')) not valid;

alter table stamps add constraint word_values check (word in ('renewed', 'returned')) not valid;

alter table members add constraint standing_values check (standing in ('good', 'banned')) not valid;

alter table books add constraint language_values check (language in ('en', 'fr', 'ja')) not valid;
