/** A body beyond this is read in the thread of large calls: parsed and judged here it would hold up everybody else's calls. */
export const LARGE_BODY = 512 * 1024

/** A body that was received and not read. */
export class LargeBody {
  readonly octets: Buffer

  constructor(octets: Buffer) {
    this.octets = octets
  }
}
