import { text } from 'node:stream/consumers'
import { type Call, textOption, UsageError } from '../command.ts'

/** Returns the API key of `--key` or of the environment. Errors never quote it. Throws {@link UsageError}. */
export async function apiKeyOf(call: Call, variable: 'POSTRIDER_API_KEY' | 'SENDGRID_API_KEY'): Promise<string> {
  const option = textOption(call, 'key')
  const key = (option === '-' ? await text(process.stdin) : (option ?? call.env[variable] ?? '')).trim()
  if (key === '') throw new UsageError(`missing option --key (or the environment variable ${variable})`)
  if (!/^[\x21-\x7e]{1,1000}$/.test(key)) throw new UsageError('the API key contains invalid characters')
  return key
}
