/** How the processes of the service are run, by `npm start` and in the image: docs/performance.md, "Memory". */
export const MEMORY = {
  /** V8 would let what lives a moment grow to three times 32 MB, most of it garbage. */
  flags: ['--max-semi-space-size=4'],
  /**
   * glibc, mallopt(3). By default it raises the size from which on memory is given back when it is freed, to 28 MB after one body of
   * 28 MB, and has up to eight arenas for each core: an API process that served a minute of large calls kept 460 MiB, with two arenas 330,
   * with one 265. One costs no time that could be measured.
   */
  env: { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
} as const
