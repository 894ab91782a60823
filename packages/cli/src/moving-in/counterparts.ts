import type { Move } from './move.ts'
import { list } from './reading.ts'
import { SourceError } from './source.ts'
import type { Counterpart } from './tally.ts'

const PAGE = 500

/** What the source has that is nothing here, found by asking where that is quick. */
export async function tellLeftBehind(move: Move, parts: readonly string[]): Promise<void> {
  const { tally } = move
  const { pictures, designs, texts } = tally.seen
  const told: Counterpart[] = []
  const some = (what: string, count: number | string, why: string) => {
    if (count !== 0) told.push({ what, count, why })
  }
  if (parts.includes('templates')) {
    some('thumbnails of versions', pictures, 'there are no pictures of templates here')
    some('versions of the design editor', designs, 'their HTML is copied and can be sent, the building blocks are not')
  }
  if (parts.includes('suppressions')) {
    some('blocks', await countOf(move, '/v3/suppression/blocks'), 'a refusal for the moment suppresses nobody here')
    const invalid = await countOf(move, '/v3/suppression/invalid_emails')
    some('invalid emails', invalid, 'a malformed address is refused when mail is offered')
    some('texts of bounces and complaints', texts, 'only address, reason and date are kept')
  }
  some('subusers', await countOf(move, '/v3/subusers'), 'create subaccounts, and run this for each')
  const why = 'not copied: docs/moving-in.md says how to make them anew'
  told.push({ what: 'API keys, domains, senders, webhooks, settings, scheduled mail, statistics', count: null, why })
  tally.leftBehind.push(...told)
}

/** 0 also where it may not be asked. */
async function countOf({ source }: Move, path: string): Promise<number | string> {
  try {
    const { length } = list(await source.get(`${path}?limit=${PAGE}&offset=0`), path)
    return length < PAGE ? length : `${length} or more`
  } catch (error) {
    if (error instanceof SourceError) return 0
    throw error
  }
}
