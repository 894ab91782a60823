-- expand
-- Why no message can be built from the version, a line for each of its texts. Null if one can, and for versions that have not been checked.
alter table editable_versions add column problem text;
