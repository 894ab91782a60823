/** A file of providers is invalid; the message names the file and the line, and states what to write. */
export class ProvidersError extends Error {
  constructor(file: string, line: number, problem: string) {
    super(`${file}, line ${line}: ${problem}`)
    this.name = 'ProvidersError'
  }
}
