import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandError } from '../command.ts'

/** Writes a file that only its owner can read, since it contains addresses or mail. Returns its bytes. Throws {@link CommandError}. */
export async function writeOut(file: string, content: AsyncIterable<string | Uint8Array>): Promise<number> {
  const out = createWriteStream(file, { mode: 0o600 })
  try {
    await pipeline(Readable.from(content), out)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new CommandError(`--out ${file} cannot be written: ${code}`)
  }
  return out.bytesWritten
}
