import { readFileSync, statSync } from 'node:fs'
import { CommandError } from '../command.ts'

/** The text of a file in UTF-8. Throws {@link CommandError} if it cannot be read, is too large or not UTF-8. */
export function readBounded(
  file: string,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
): string {
  let bytes: Buffer
  try {
    const stat = statSync(file)
    // A device or a pipe may never end.
    if (!stat.isFile()) throw new CommandError(`${name} must be a file (got ${file})`)
    if (stat.size > maxBytes) {
      throw new CommandError(`${name} must have at most ${maxBytes} bytes (${file} has ${stat.size})`)
    }
    bytes = readFileSync(file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${name} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} ${file} is not UTF-8`)
  }
}
