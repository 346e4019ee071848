#!/usr/bin/env bash
# Moves a store to a newer PostgreSQL while it is served, by logical replication; writes pause for a moment.
#   deploy/upgrade-postgres.sh copy OLD NEW     makes the schema in NEW, copies the rows, and follows OLD from then on
#   deploy/upgrade-postgres.sh switch OLD NEW   ends the writes in OLD, waits until NEW has them all, and lets Duet in there
#   deploy/upgrade-postgres.sh forget OLD NEW   follows no more, where it was not switched
# OLD and NEW are the URLs of the two databases for a superuser; the server of NEW reaches OLD by the same URL. The user of
# Duet owns the database in OLD; NEW is empty, and its server has no such user. Needs psql and pg_dump, as new as OLD or newer.
set -euo pipefail

usage() { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
[ $# -eq 3 ] || usage
OLD=$2 NEW=$3

ask() { psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
in_old() { PGOPTIONS='-c default_transaction_read_only=off' ask -d "$OLD" "$@"; }
in_new() { PGOPTIONS='-c client_min_messages=warning' ask -d "$NEW" "$@"; }
say() { echo "$(date +%T) $*"; }
refuse() { echo "$*" >&2; exit 1; }
wait_for() { until [ "$("${@:2}")" = t ]; do sleep "$1"; done; }

DATABASE='select quote_ident(current_database())'
USER_OF_DUET='(select datdba from pg_database where datname = current_database())'
USER_NAME="select quote_ident(rolname) from pg_authid where oid = $USER_OF_DUET"
# The tables of Duet are where its search_path leads, which need not be public.
NOT_SYSTEM="relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'"
SCHEMA="select relnamespace::regnamespace from pg_class where relname = 'timelines' and relkind = 'r' and $NOT_SYSTEM"
SEARCH_PATH="select substr(setting, length('search_path=') + 1) from pg_db_role_setting, unnest(setconfig) as setting
  where setting like 'search_path=%' and setrole in (0, $USER_OF_DUET)
    and setdatabase in (0, (select oid from pg_database where datname = current_database()))
  order by setrole = 0, setdatabase = 0 limit 1"
TIMELINE="('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int"

check() {
  [ "$(in_old -c 'show wal_level')" = logical ] ||
    refuse 'wal_level of the old server is not logical: set it, and start that server again'
  [ "$(in_old -c "select rolsuper from pg_authid where oid = $USER_OF_DUET")" = f ] ||
    refuse 'the old database belongs to a superuser: give it to a user of its own, as whom Duet connects'
  [ "$(in_old -c "select count(*) from ($SCHEMA) as stores")" = 1 ] ||
    refuse 'the old database is not the one of a single Duet: correct the URL, or give each Duet a database of its own'
  local keyless
  keyless=$(in_old -c "select string_agg(relname, ', ') from pg_class as c
    where relkind = 'r' and relpersistence = 'p' and $NOT_SYSTEM
      and not exists (select from pg_index where indrelid = c.oid and indisprimary)")
  [ -z "$keyless" ] || refuse "these tables have no primary key, so their changes cannot be followed: $keyless"
  [ "$(in_new -c "select count(*) from pg_class where relkind = 'r' and $NOT_SYSTEM")" = 0 ] ||
    refuse 'the new database is not empty: name an empty one'
}

copy() {
  check
  # Until the switch that user may not connect: nobody writes into what follows.
  in_old -c "select format('create role %I nologin password %L;', rolname, rolpassword) from pg_authid where oid = $USER_OF_DUET" | in_new
  in_new -c "alter database $(in_new -c "$DATABASE") owner to $(in_old -c "$USER_NAME")"
  pg_dump --schema-only --no-publications --no-subscriptions -d "$OLD" | in_new > /dev/null
  local path
  path=$(in_old -c "$SEARCH_PATH")
  [ -z "$path" ] || in_new -c "alter role $(in_new -c "$USER_NAME") set search_path = $path"
  in_old -c 'create publication duet_upgrade for all tables'
  echo "create subscription duet_upgrade connection :'old' publication duet_upgrade;" | in_new -v old="$OLD"
  wait_for 1 in_new -c "select bool_and(srsubstate = 'r') from pg_subscription_rel"
  in_new -c analyze
  say 'the new database follows the old one: switch when you like, and run no duet migrate until then'
}

# Waits until the new database has all up to the end of the old log.
CATCH_UP="do \$\$
  declare
    since timestamptz := clock_timestamp();
    here pg_lsn := pg_current_wal_lsn();
  begin
    while not exists (select from pg_replication_slots where slot_name = 'duet_upgrade' and confirmed_flush_lsn >= here)
    loop
      if clock_timestamp() > since + interval '10 s' then raise 'the new database does not catch up: find out why, then switch again'; end if;
      perform pg_sleep(0.01);
    end loop;
  end \$\$"

# New sessions find that they cannot write; those from before are ended, and with them what they have not committed.
END_WRITES="do \$\$
  declare since timestamptz := clock_timestamp();
  begin
    loop
      perform pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
        and backend_type = 'client backend' and pid <> pg_backend_pid() and backend_start < since;
      exit when not found;
      if clock_timestamp() > since + interval '5 s' then raise 'sessions do not end: end them, then switch again'; end if;
      perform pg_sleep(0.01), pg_stat_clear_snapshot();
    end loop;
  end \$\$"

SEQUENCES="select string_agg(format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value), '; ')
  from pg_sequences where last_value is not null"

switch() {
  [ "$(in_new -c "select bool_and(srsubstate = 'r') from pg_subscription_rel")" = t ] || refuse 'not all rows are copied: wait for that'
  local begun told end earlier sequences
  old=$(in_old -c "$DATABASE") new=$(in_new -c "$DATABASE")
  user=$(in_new -c "$USER_NAME") schema=$(in_new -c "$SCHEMA")
  in_old -c "$CATCH_UP"
  begun=$(date +%s%N)
  trap 'in_old -c "alter database $old reset default_transaction_read_only"; echo "not switched: the old database takes writes again" >&2' EXIT
  told=$(in_old -c "alter database $old set default_transaction_read_only = on" -c "$END_WRITES" \
    -c "do \$\$ begin perform pg_logical_emit_message(true, 'duet', 'switch'); end \$\$" -c "$CATCH_UP" \
    -c 'select pg_current_wal_insert_lsn()' -c "$SEQUENCES" \
    -c "select $TIMELINE + coalesce(nullif(current_setting('duet.earlier_timelines', true), '')::int, 0)")
  { read -r end; read -r sequences; read -r earlier; } <<< "$told"
  trap 'echo "if $user may not log in to the new database now, let the old one take writes again: alter database $old reset default_transaction_read_only" >&2' EXIT
  # Timelines are counted on, and the first one here begins where the old log ends: so Duet knows which database is the
  # later one, and what a position from before is worth.
  in_new -c "$sequences;
    insert into $schema.timelines (system, timeline, began)
      select system_identifier::text, $earlier + $TIMELINE, '$end' from pg_control_system();
    alter database $new set duet.earlier_timelines = $earlier;
    alter role $user login" > /dev/null
  trap - EXIT
  say "Duet writes to the new database; writes paused for $((($(date +%s%N) - begun) / 1000000)) ms"
  forget
}

forget() {
  in_new -c 'drop subscription if exists duet_upgrade'
  in_old -c 'drop publication if exists duet_upgrade'
}

case $1 in
  copy | switch | forget) "$1" ;;
  *) usage ;;
esac
