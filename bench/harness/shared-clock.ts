/** Milliseconds of the machine's monotonic clock, which is the same in all processes; performance.now() begins with each of them. */
export function sharedClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
