-- A user who comes through OIDC for the first time gets the roles that their address was invited to.
create index invitations_email on invitations (email_key) where accepted_at is null and revoked_at is null;
