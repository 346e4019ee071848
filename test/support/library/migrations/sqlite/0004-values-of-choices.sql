alter table loans add constraint state_values check (state in ('out', 'back'));

alter table stamps add constraint word_values check (word in ('renewed', 'returned'));

alter table members add constraint standing_values check (standing in ('good', 'banned'));

alter table books add constraint language_values check (language in ('en', 'fr', 'ja'));
