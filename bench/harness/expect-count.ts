/** Throws unless the counts agree: a figure of mail that was lost or doubled is no figure. */
export function expectCount(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${what}: ${found}, but it should be ${wanted}`)
}
