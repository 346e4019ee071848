-- Sessions, ways in, codes, keys and counts of a content whose people sign in. All that is a person's goes with the row.

create table auth_sessions (
  id text collate "C" primary key,
  expires_at bigint not null,
  token text collate "C" not null unique,
  created_at bigint not null,
  updated_at bigint not null,
  ip_address text collate "C",
  user_agent text collate "C",
  method text collate "C",
  user_id bigint not null references {people} (id) on delete cascade
);

create index auth_sessions_by_user_id on auth_sessions (user_id);
create index auth_sessions_by_expires_at on auth_sessions (expires_at);

create table auth_accounts (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  provider_id text collate "C" not null,
  user_id bigint not null references {people} (id) on delete cascade,
  access_token text collate "C",
  refresh_token text collate "C",
  id_token text collate "C",
  access_token_expires_at bigint,
  refresh_token_expires_at bigint,
  scope text collate "C",
  password text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  unique (provider_id, account_id)
);

create index auth_accounts_by_user_id on auth_accounts (user_id);

create table auth_verifications (
  id text collate "C" primary key,
  identifier text collate "C" not null,
  value text collate "C" not null,
  expires_at bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);

create index auth_verifications_by_identifier on auth_verifications (identifier);
create index auth_verifications_by_value on auth_verifications (value);
create index auth_verifications_by_expires_at on auth_verifications (expires_at);

create table auth_keys (
  id text collate "C" primary key,
  public_key text collate "C" not null,
  private_key text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  alg text collate "C",
  crv text collate "C"
);

create table auth_rates (
  id text collate "C" primary key,
  key text collate "C" not null unique,
  count bigint not null,
  last_request bigint not null
);

create index auth_rates_by_last_request on auth_rates (last_request);
