-- expand
-- What follows for bulk mail without what large receivers demand: warn or hold; null: what the operator has set.
alter table accounts add column requirements text;
create index accounts_requirements on accounts (requirements) where requirements is not null;

-- What the domain lacked of the demands on large senders when it was last checked, and since when it has lacked some. Null until then.
alter table domain_guards add column lacks text[], add column lacking_since timestamptz;
create index domain_guards_lacking on domain_guards (domain_id) where lacks <> '{}';
