/** Returns the fields of a header with their folded lines (RFC 5322 2.2.3) and line ends. */
export function splitFields(head: string): string[] {
  return head.split(/(?<=\r\n)(?![ \t])/)
}

/** Returns the end of the header field that begins at `start`, including its folded lines (RFC 5322 2.2.3) and the line end. */
export function endOfField(head: string, start: number): number {
  let end = start
  do {
    const line = head.indexOf('\r\n', end)
    if (line === -1) return head.length
    end = line + 2
  } while (head[end] === ' ' || head[end] === '\t')
  return end
}
