import { readFileSync } from 'node:fs'
import { CommandError } from '../command.ts'

/** The text of the file of an option. Throws {@link CommandError} if it cannot be read as UTF-8. */
export function readText(file: string, option = '--file'): string {
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    if (content.includes('\0')) throw new Error('it contains NUL characters')
    return content
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const problem = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not UTF-8 text' : (code ?? message)
    throw new CommandError(`${option} ${file} cannot be read: ${problem}`)
  }
}

/** The JSON of the file of an option. Throws {@link CommandError}. */
export function readJson(file: string, option: string): unknown {
  try {
    return JSON.parse(readText(file, option))
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${option} ${file} is not JSON: ${(error as Error).message}`)
  }
}
