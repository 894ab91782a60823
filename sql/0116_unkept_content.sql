-- expand
-- Mail whose content is not kept: by an account, a key or a message.
alter table accounts add column keep_content boolean not null default true;
-- If null, as the account has it. A key only restricts.
alter table api_keys add column keep_content boolean check (not keep_content);

-- A message whose content is to be removed once its last delivery has ended. Removed with it.
create table unkept_contents (
  message_id uuid not null primary key,
  account_id integer not null
);
create index unkept_contents_account on unkept_contents (account_id, message_id);

insert into retention_turns (name, turn_at) values ('contents', '-infinity');
