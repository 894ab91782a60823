-- What an account calls its exports by is not to be guessed, and tells nobody how many others there are.

alter table export_jobs add column public_id uuid not null default gen_random_uuid();
create unique index export_jobs_public on export_jobs (public_id);
