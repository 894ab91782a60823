/** Gmail shows this much of a message's HTML. */
const CLIPPED_BYTES = 102 * 1024

/** Whether Gmail clips this HTML. */
export function isClipped(html: string): boolean {
  return html.length > CLIPPED_BYTES || Buffer.byteLength(html) > CLIPPED_BYTES
}
