-- What each stored part is known by, so that one that was changed at its length is not sent (core/messages/body.ts).

alter table bodies
  -- CRC-32 of message, part and `content`. Null: written by a version that kept none.
  add column digest integer;
