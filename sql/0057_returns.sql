-- Mail that came back. Its text is kept only of what could not be read, because it names people.
create table returns (
  id uuid primary key default uuidv7(),
  received_at timestamptz not null default service_now(),
  kind text not null,
  -- The delivery that it is about; null if it has no valid mark of this service.
  message_id uuid,
  recipient_no integer,
  account_id integer,
  -- The local part of the operator's address that it was sent to; null if it was sent to a return path.
  role text,
  effect text not null,
  why text,
  class text,
  -- The domain of the address in From, which anybody can write there.
  reporter text not null,
  size integer not null,
  -- Deflated, the first 256 KiB; and the address that it was sent to.
  content bytea,
  sent_to text
);
create index returns_by_kind on returns (kind, id);
create index returns_by_message on returns (message_id, recipient_no) where message_id is not null;
create index returns_by_time on returns (received_at);
create index returns_kept on returns ((message_id is null), id) where content is not null;
create index returns_unmatched on returns (id) where message_id is null;
