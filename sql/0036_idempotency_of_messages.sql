-- A key may be an address or hold one: whoever is forgotten must be found in the keys of what was sent to them.

create index idempotency_keys_message on idempotency_keys (message_id);
