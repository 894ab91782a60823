/** Memory settings of the service's processes, used by `npm start` and in the image: docs/performance.md, "Memory". */
export const MEMORY = {
  /**
   * V8 would otherwise let the young generation grow to three times 32 MB, most of it garbage. With 4 MB an HTTP call took 8 to 18 % more
   * processor time, and a delivery 7, since what is in progress is copied twice as often.
   *
   * Node has four threads for V8 by default, whatever the number of processors. When they collected a worker's garbage, one with 2,000 conversations
   * kept two processors busy for 30 to 50 ms, and all mail waited: with one thread the p99 of a quiet account was 53 to 73 instead of 104 to 106 ms.
   */
  flags: ['--max-semi-space-size=8', '--v8-pool-size=1'],
  /**
   * glibc, mallopt(3). By default freeing a body of 28 MB raises the size from which freed memory is returned to the system to 28 MB,
   * and there are up to eight arenas per core. An API process that served a minute of large calls kept 460 MiB; with two arenas 330,
   * with one 265. One arena costs no measurable time.
   */
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
} as const
