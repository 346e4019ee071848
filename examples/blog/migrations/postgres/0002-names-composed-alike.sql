alter table tags add column name_nfc text collate "C";

do $$
begin
  if exists (select from tags where name_nfc is not null group by name_nfc having count(*) > 1) then
    raise unique_violation using message = 'rows of tags break the constraint tags_by_name_nfc';
  end if;
end
$$;
