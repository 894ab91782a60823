-- expand
-- The moment that the server was last restored to, and its queue held for: a server whose settings name another one was restored since.
insert into instance (name, value)
select 'recovery target',
       array_to_string(array(select name || ' = ' || current_setting(name)
                               from unnest('{recovery_target,recovery_target_lsn,recovery_target_name,recovery_target_time,recovery_target_xid}'::text[]) name
                              where current_setting(name) <> ''), ', ');
