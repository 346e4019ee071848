-- outside a transaction
alter table loans validate constraint state_values;

alter table stamps validate constraint word_values;

alter table members validate constraint standing_values;

alter table books validate constraint language_values;
