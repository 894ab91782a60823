import { writeFileSync } from 'node:fs'
import { EVIDENCE_DAYS } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredWord,
  textOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { readBounded } from '../read-bounded.ts'
import { evidenceText } from './provider-evidence-text.ts'

/** Far more than a pack has. */
const MAX_BYTES = 10 * 1024 * 1024

export const evidenceCommands: readonly Command[] = [
  {
    name: 'provider evidence',
    usage: '{NAME [--source NAME] [--days N] [--out FILE] | --verify FILE}',
    summary: 'Collect what can be shown to a provider about its mail, as signed Markdown',
    detail: 'With --json it is JSON',
    parameters: {
      source: 'Only mail from this source',
      days: 'Number of days (default 7)',
      out: 'File to write (default: stdout)',
      verify: 'Check that such a file is unchanged',
    },
    examples: ['provider evidence google --out google.md', 'provider evidence --verify google.md'],
    run: (call) => (textOption(call, 'verify') === undefined ? collect(call) : verify(call)),
  },
]

async function collect(call: Call): Promise<Answer> {
  const query = {
    provider: requiredWord(call, 'provider'),
    source: textOption(call, 'source') ?? null,
    days: wholeOption(call, 'days') ?? EVIDENCE_DAYS.usual,
  }
  const { data, text } = await call.withCore(async (core) => {
    const evidence = await core.evidence.collect(query)
    return { data: evidence, text: core.evidence.signText(evidenceText(evidence)) }
  })
  const file = textOption(call, 'out')
  if (file === undefined) return { data, text }
  try {
    writeFileSync(file, call.options.json ? `${JSON.stringify(data)}\n` : text)
  } catch (error) {
    throw new CommandError(`--out ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
  }
  return { data: { file }, text: `written to ${file}` }
}

async function verify(call: Call): Promise<Answer> {
  const other = ['source', 'days', 'out'].find((name) => call.options[name] !== undefined) ?? call.words[0]
  if (other !== undefined) throw new UsageError(`--verify cannot be used together with "${other}"`)
  const file = textOption(call, 'verify') as string
  const text = readBounded(file, { name: '--verify', maxBytes: MAX_BYTES })
  const unchanged = await call.withCore(async (core) => core.evidence.isUnchanged(text))
  const data = { file, unchanged }
  if (unchanged) return { data, text: 'unchanged: this installation has made it as it is' }
  return {
    data,
    text: 'changed',
    failure:
      'the file is not as this installation has made it: it was changed, or made elsewhere or with another SECRET_KEY',
  }
}
