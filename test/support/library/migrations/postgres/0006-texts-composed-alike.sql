alter table books add column isbn_nfc text collate "C";

alter table subjects add column word_nfc text collate "C";

do $$
begin
  if exists (select from books where isbn_nfc is not null group by isbn_nfc having count(*) > 1) then
    raise unique_violation using message = 'rows of books break the constraint books_by_isbn_nfc';
  end if;
end
$$;

do $$
begin
  if exists (select from subjects where word_nfc is not null group by word_nfc having count(*) > 1) then
    raise unique_violation using message = 'rows of subjects break the constraint subjects_by_word_nfc';
  end if;
end
$$;
