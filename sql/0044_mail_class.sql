-- The class of an account's or a key's mail: urgent, normal or bulk. Null: normal, or for a key, not restricted.
alter table accounts add column mail_class text;
alter table api_keys add column mail_class text;
