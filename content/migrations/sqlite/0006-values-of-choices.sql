alter table users add constraint role_values check (role in ('user', 'admin'));

alter table users add constraint status_values check (status in ('active', 'suspended'));

alter table orders add constraint status_values check (status in ('pending', 'paid', 'cancelled', 'refunded'));

alter table avatars add constraint type_values check (type in ('image/png', 'image/jpeg', 'image/webp', 'image/gif'));
