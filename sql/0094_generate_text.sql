-- expand
-- Whether plain text is generated for messages of v2 that have HTML alone.
alter table accounts add column generate_text boolean not null default true;
