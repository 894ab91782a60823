-- The messages by which a message was sent again. Only such messages have an entry.
create index messages_resent on messages ((settings->>'resentFrom')) where settings ? 'resentFrom';
