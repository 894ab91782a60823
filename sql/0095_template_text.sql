-- expand
-- The plain text of a version of a v2 template; null if it has none. Read from here for the active version, too: an older process that activates a
-- version would leave that of another in a copy.
alter table template_versions add column text text;
