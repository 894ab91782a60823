/** Reads a deadline as clients write it, in seconds; undefined if none is given, NaN, which the rules reject, if it is not a number. */
export function readDeadline(seconds: number | string | null | undefined): number | undefined {
  if (seconds == null || seconds === '') return undefined
  return /^\d{1,9}$/.test(String(seconds)) ? Number(seconds) : Number.NaN
}
