-- Keys made through v3 keep the finer rights they were asked for, so that they allow no more and answer the same.

alter table api_keys
  -- v3's names. Null: all that the scopes allow there.
  add column v3_rights text[];
