/** A text as one word of a POSIX shell, in which nothing is expanded (IEEE 1003.1 XCU 2.2.2). */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
