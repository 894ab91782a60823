-- expand
-- The values with which a template with merge tags is shown in the editor and sent to its author, as JSON; null if none were entered. They are
-- the template's, not a version's: versions never change. Templates of the v3 API have theirs in editable_versions.
alter table templates add column test_data text;
-- The name servers of the domain's zone at its last check, by which the page says where its records are entered; null before it.
alter table domain_guards add column name_servers text[];
