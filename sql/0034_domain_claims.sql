-- Whoever adds a sending domain claims it; whoever's records stand in its DNS has it. A claim stops nobody else, tells nobody
-- of others, and ends.

alter table domains
  -- Of a pending domain: then the claim is gone. Those made before this have as long as new ones.
  add column claim_ends_at  timestamptz,
  -- When it could first send. Null: no message was ever signed for it, so nothing is lost when its row goes.
  add column activated_at   timestamptz;
update domains set claim_ends_at = service_now() + interval '14 days' where state = 'pending' and deleted_at is null;
-- Nobody wrote down which of the older ones ever sent.
update domains set activated_at = created_at;

drop index domains_name;
create unique index domains_held on domains (name) where deleted_at is null and state <> 'pending';
drop index domains_account;
create unique index domains_account on domains (account_id, name) where deleted_at is null;
create index domains_claims on domains (account_id) where deleted_at is null and state = 'pending';
