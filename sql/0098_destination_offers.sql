-- expand
-- How many messages of a sending domain were offered to a destination in one minute, and how many it refused for their sender: counted only
-- where a worker sees more than half refused so, in all or of an account. Unlogged, as rule_hits.
create unlogged table destination_offers (
  place           text not null,
  minute          timestamptz not null,
  account_id      integer not null,
  domain_id       integer not null,
  offered         integer not null,
  -- Refused for this service's address, reputation or volume; for the message or its sender; for missing SPF, DKIM or DMARC.
  service         integer not null,
  message         integer not null,
  authentication  integer not null,
  -- Hashes of at most 20 recipients for whom mail was refused.
  recipients      integer[] not null,
  primary key (place, minute, account_id, domain_id)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
