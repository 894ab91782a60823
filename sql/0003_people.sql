-- Users of the dashboard.

-- A person who can log in.
create table users (
  id                 integer generated always as identity primary key,
  name               text not null,
  -- Null for the holder of a subaccount, whose name and password are those of the subaccount.
  email              text,
  -- The address in canonical lower case.
  email_key          text,
  -- As accounts.password. If null, only a passkey or the provider of OIDC_ISSUER.
  password           text,
  -- The subaccount that this user is the holder of.
  holder_of          integer references accounts,
  -- The user's id at the provider of OIDC_ISSUER.
  oidc_subject       text,
  -- The shared secret of one-time codes, encrypted. Valid once totp_confirmed_at is set.
  totp_secret        bytea,
  totp_confirmed_at  timestamptz,
  -- The time step of the last code that was used; neither it nor an earlier one is accepted again.
  totp_step          bigint,
  verified_at        timestamptz,
  created_at         timestamptz not null default service_now(),
  disabled_at        timestamptz,
  last_seen_at       timestamptz,
  constraint users_identity check (holder_of is not null or email_key is not null)
);
create unique index users_email on users (email_key);
create unique index users_holder on users (holder_of);
create unique index users_oidc on users (oidc_subject);

-- The role of a user in an account.
create table memberships (
  account_id  integer not null references accounts,
  user_id     integer not null references users on delete cascade,
  role        text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  created_at  timestamptz not null default service_now(),
  primary key (account_id, user_id)
);
create index memberships_user on memberships (user_id);

-- A user who may see all accounts and the installation.
create table operators (
  user_id     integer primary key references users on delete cascade,
  created_at  timestamptz not null default service_now()
);

-- A log-in of a user in one browser.
create table sessions (
  id                  bigint generated always as identity primary key,
  -- SHA-256 of the token in the cookie.
  hash                bytea not null,
  -- The token before the last rotation, which remains valid for some seconds for requests that are under way.
  previous_hash       bytea,
  rotated_at          timestamptz,
  -- Whether the token must be replaced at the next request, because the user's rights have changed.
  rotate              boolean not null default false,
  user_id             integer not null references users on delete cascade,
  created_at          timestamptz not null default service_now(),
  seen_at             timestamptz not null default service_now(),
  expires_at          timestamptz not null,
  -- How the user logged in: by password, passkey or the provider of OIDC_ISSUER.
  method              text not null check (method in ('password', 'passkey', 'oidc')),
  address             inet,
  agent               text,
  -- When the user last proved who they are.
  reauthenticated_at  timestamptz not null default service_now(),
  -- The account that an operator is viewing.
  looks_at            integer references accounts
) with (fillfactor = 70);
create index sessions_expiry on sessions (expires_at);
create unique index sessions_hash on sessions (hash);
create index sessions_previous on sessions (previous_hash) where previous_hash is not null;
create index sessions_user on sessions (user_id);

-- A passkey of a user.
create table passkeys (
  credential_id  text primary key,
  user_id        integer not null references users on delete cascade,
  public_key     bytea not null,
  counter        bigint not null,
  transports     text[] not null default '{}',
  name           text not null,
  created_at     timestamptz not null default service_now(),
  used_at        timestamptz
);
create index passkeys_user on passkeys (user_id);

-- The hash of a code that replaces the second factor once.
create table recovery_codes (
  user_id  integer not null references users on delete cascade,
  hash     bytea not null,
  primary key (user_id, hash)
);

-- An invitation to an account.
create table invitations (
  id           integer generated always as identity primary key,
  -- SHA-256 of the token in the link.
  hash         bytea not null unique,
  account_id   integer not null references accounts,
  role         text not null check (role in ('owner', 'developer', 'support', 'viewer')),
  email        text not null,
  email_key    text not null,
  -- If null, the operator on the command line.
  invited_by   integer references users on delete set null,
  created_at   timestamptz not null default service_now(),
  expires_at   timestamptz not null,
  accepted_at  timestamptz,
  revoked_at   timestamptz,
  -- Whether it was sent to its address, so that the holder of the link has the address. Otherwise its maker handed it over.
  mailed       boolean not null default false
);
create index invitations_account on invitations (account_id, id);
-- A user who logs in through OIDC for the first time gets the roles that their address was invited to.
create index invitations_email on invitations (email_key) where accepted_at is null and revoked_at is null;

-- A token that works once and for a limited time: a link in mail or of the command line, or a step of a log-in.
create table one_time_links (
  -- SHA-256 of the token.
  hash        bytea primary key,
  purpose     text not null,
  user_id     integer references users on delete cascade,
  account_id  integer references accounts,
  -- Data of the step, such as the challenge of a passkey.
  data        jsonb not null default '{}',
  created_at  timestamptz not null default service_now(),
  expires_at  timestamptz not null,
  used_at     timestamptz
);
create index one_time_links_expiry on one_time_links (expires_at);
create index one_time_links_user on one_time_links (user_id) where user_id is not null;
