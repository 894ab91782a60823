-- What the DNS says of a sending domain, and DKIM keys that follow one another.

alter table domains
  drop constraint domains_state_check,
  -- inactive: its records were right and have been wrong for longer than DOMAIN_GRACE_HOURS.
  add constraint domains_state_check check (state in ('pending', 'active', 'inactive', 'rejected')),
  -- Labels below the domain, of the host that opens, clicks and unsubscribes go to.
  add column envelope_name  text,
  -- Subaccounts of its account may send from it.
  add column shared         boolean not null default false,
  -- Accepted mail still is signed for a deleted domain, so the row and its keys stay; the name becomes free.
  add column deleted_at     timestamptz,
  -- By type and host: what the last answered look-up of each record saw.
  add column records        jsonb not null default '{}',
  add column checked_at     timestamptz,
  -- When the required records were last seen right. Null: the operator's word is all there is, and no look-up takes it back.
  add column verified_at    timestamptz,
  add column broken_since   timestamptz,
  -- When a worker is to look next.
  add column check_at       timestamptz not null default service_now() + interval '1 hour';

drop index domains_name;
create unique index domains_name on domains (name) where deleted_at is null;
-- Selectors that a name has had under any account: a new key must not take the record of one that still is to be verified.
create index domains_every_name on domains (name);
drop index domains_account;
create index domains_account on domains (account_id, name) where deleted_at is null;
create index domains_due on domains (check_at) where deleted_at is null;

alter table dkim_keys
  drop constraint dkim_keys_state_check,
  -- next: signs once its record was seen in the DNS; retiring: signs no more, what it signed is still to be verified; retired:
  -- its record may go. The last two have an empty private key.
  add constraint dkim_keys_state_check check (state in ('next', 'active', 'retiring', 'retired')),
  add column retire_at timestamptz;
-- A domain always signs with one key, and at most one waits.
create unique index dkim_keys_current on dkim_keys (domain_id, state) where state in ('next', 'active');
