-- Sessions, ways in, codes, keys and counts of a content whose people sign in. All that is a person's goes with the row.

create table auth_sessions (
  id text primary key,
  expires_at integer not null,
  token text not null unique,
  created_at integer not null,
  updated_at integer not null,
  ip_address text,
  user_agent text,
  method text,
  user_id integer not null references {people} (id) on delete cascade
) strict;

create index auth_sessions_by_user_id on auth_sessions (user_id);
create index auth_sessions_by_expires_at on auth_sessions (expires_at);

create table auth_accounts (
  id text primary key,
  account_id text not null,
  provider_id text not null,
  user_id integer not null references {people} (id) on delete cascade,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at integer,
  refresh_token_expires_at integer,
  scope text,
  password text,
  created_at integer not null,
  updated_at integer not null,
  unique (provider_id, account_id)
) strict;

create index auth_accounts_by_user_id on auth_accounts (user_id);

create table auth_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

create index auth_verifications_by_identifier on auth_verifications (identifier);
create index auth_verifications_by_value on auth_verifications (value);
create index auth_verifications_by_expires_at on auth_verifications (expires_at);

create table auth_keys (
  id text primary key,
  public_key text not null,
  private_key text not null,
  created_at integer not null,
  expires_at integer,
  alg text,
  crv text
) strict;

create table auth_rates (
  id text primary key,
  key text not null unique,
  count integer not null,
  last_request integer not null
) strict;

create index auth_rates_by_last_request on auth_rates (last_request);
