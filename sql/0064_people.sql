-- People who log in to the dashboard, their rights in accounts, and their sessions.
create table users (
  id              integer generated always as identity primary key,
  name            text not null,
  -- Null for the holder of a subaccount, whose name and password are those of the subaccount.
  email           text,
  -- Its canonical lower-case form.
  email_key       text,
  -- As accounts.password. Null: only by passkey, or by the provider of OIDC_ISSUER.
  password        text,
  -- The subaccount that this user is the holder of.
  holder_of       integer references accounts (id),
  -- The user's id at the provider of OIDC_ISSUER.
  oidc_subject    text,
  -- The shared secret of one-time codes, encrypted. It counts once confirmed_at is set.
  totp_secret     bytea,
  totp_confirmed_at timestamptz,
  -- The time step of the last code that was used; neither it nor an earlier one is accepted again.
  totp_step       bigint,
  verified_at     timestamptz,
  created_at      timestamptz not null default service_now(),
  disabled_at     timestamptz,
  last_seen_at    timestamptz,
  constraint users_identity check (holder_of is not null or email_key is not null)
);
create unique index users_email on users (email_key);
create unique index users_holder on users (holder_of);
create unique index users_oidc on users (oidc_subject);

create table memberships (
  account_id integer not null references accounts (id),
  user_id    integer not null references users (id) on delete cascade,
  role       text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at timestamptz not null default service_now(),
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

-- Users who may see every account and the installation itself.
create table operators (
  user_id    integer primary key references users (id) on delete cascade,
  created_at timestamptz not null default service_now()
);

create table sessions (
  id            bigint generated always as identity primary key,
  -- SHA-256 of the token in the cookie.
  hash          bytea not null,
  -- The token before the last rotation, which remains valid for some seconds for requests that are under way.
  previous_hash bytea,
  rotated_at    timestamptz,
  -- Whether the token must be replaced at the next request, because the user's rights have changed.
  rotate        boolean not null default false,
  user_id       integer not null references users (id) on delete cascade,
  created_at    timestamptz not null default service_now(),
  seen_at       timestamptz not null default service_now(),
  expires_at    timestamptz not null,
  -- How the user logged in: by password, passkey or the provider of OIDC_ISSUER.
  method        text not null check (method in ('password', 'passkey', 'oidc')),
  address       inet,
  agent         text,
  -- When the user last proved who they are: at log-in, and when asked again.
  reauthenticated_at timestamptz not null default service_now(),
  -- The account that an operator looks at.
  looks_at      integer references accounts (id)
) with (fillfactor = 70);
create unique index sessions_hash on sessions (hash);
create index sessions_previous on sessions (previous_hash) where previous_hash is not null;
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

create table passkeys (
  credential_id text primary key,
  user_id       integer not null references users (id) on delete cascade,
  public_key    bytea not null,
  counter       bigint not null,
  transports    text[] not null default '{}',
  name          text not null,
  created_at    timestamptz not null default service_now(),
  used_at       timestamptz
);
create index passkeys_user on passkeys (user_id);

create table recovery_codes (
  user_id integer not null references users (id) on delete cascade,
  hash    bytea not null,
  primary key (user_id, hash)
);

create table invitations (
  id          integer generated always as identity primary key,
  hash        bytea not null unique,
  account_id  integer not null references accounts (id),
  role        text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  email       text not null,
  email_key   text not null,
  -- Null: the operator on the command line.
  invited_by  integer references users (id) on delete set null,
  created_at  timestamptz not null default service_now(),
  expires_at  timestamptz not null,
  accepted_at timestamptz,
  revoked_at  timestamptz
);
create index invitations_account on invitations (account_id, id);

-- What works once and for a limited time: links in mail and on the command line, and the steps of a log-in.
create table one_time_links (
  -- SHA-256 of the token.
  hash       bytea primary key,
  purpose    text not null,
  user_id    integer references users (id) on delete cascade,
  account_id integer references accounts (id),
  -- What belongs to the step, such as the challenge of a passkey.
  data       jsonb not null default '{}',
  created_at timestamptz not null default service_now(),
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index one_time_links_expiry on one_time_links (expires_at);
create index one_time_links_user on one_time_links (user_id) where user_id is not null;

-- The verified address of the user who made the account by sign-up. Until the account has an active domain, it may send a few test
-- messages to this address, and no other mail. Null for other accounts.
alter table accounts add column trial_address text;

-- The user who made a change; entries before this have none. Entries of version 2 name the user in their hash.
alter table audit_log add column actor_user_id integer;
alter table audit_log add column version smallint not null default 1;

create or replace function audit_hash(entry audit_log) returns bytea
language sql immutable
as $$
  select case entry.version
    when 1 then sha256(entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after)::text, 'UTF8'))
    else sha256('\x02'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id)::text, 'UTF8'))
    end
$$;

create function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer
) returns void
language plpgsql
as $$
declare
  entry audit_log;
  last audit_log;
begin
  perform pg_advisory_xact_lock(7742, of_account);
  select * into last from audit_log where account_id = of_account order by number desc limit 1;
  entry.account_id := of_account;
  entry.number := coalesce(last.number, 0) + 1;
  entry.at := service_now();
  entry.actor_key_id := key_id;
  entry.actor_address := address;
  entry.actor_user_id := user_id;
  entry.version := 2;
  entry.action := what;
  entry.object := which;
  entry.before := was;
  entry.after := became;
  entry.previous_hash := coalesce(last.hash, '');
  entry.hash := audit_hash(entry);
  insert into audit_log select entry.*;
end
$$;

-- For processes of the version before.
create or replace function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb
) returns void
language sql
as $$
  select audit_note(of_account, key_id, address, what, which, was, became, null)
$$;
