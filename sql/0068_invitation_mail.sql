-- Whether the invitation was sent to its address, so that who has the link has the address. Otherwise it was handed over by its maker.
alter table invitations add column mailed boolean not null default false;
