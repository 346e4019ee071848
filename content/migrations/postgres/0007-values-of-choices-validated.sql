-- outside a transaction
alter table users validate constraint role_values;

alter table users validate constraint status_values;

alter table orders validate constraint status_values;

alter table avatars validate constraint type_values;
