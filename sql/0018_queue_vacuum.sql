-- Vacuum gives empty pages at a table's end back to the file system under a lock that holds up every claim: with a million
-- rows waiting, one claim in a hundred took 47 ms (`npm run bench -- --only claim-latency`). The queue will fill them again.
alter table delivery_queue set (vacuum_truncate = false);
