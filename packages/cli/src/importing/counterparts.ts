import type { Move } from './move.ts'
import { list } from './reading.ts'
import { SourceError } from './source.ts'
import type { NotImported } from './tally.ts'

const PAGE = 500

/** Reports what the source has and Postrider has no equivalent for, with counts where the source gives them quickly. */
export async function reportNotImported(move: Move, parts: readonly string[]): Promise<void> {
  const { tally } = move
  const { pictures, designs, texts } = tally.seen
  const counterparts: NotImported[] = []
  const add = (what: string, count: number | string, why: string) => {
    if (count !== 0) counterparts.push({ what, count, why })
  }
  if (parts.includes('templates')) {
    add('thumbnails of versions', pictures, 'Postrider has no template thumbnails')
    add('versions of the design editor', designs, 'their HTML is imported, their design modules are not')
  }
  if (parts.includes('suppressions')) {
    add('blocks', await countOf(move, '/v3/suppression/blocks'), 'temporary blocks do not suppress recipients')
    const invalid = await countOf(move, '/v3/suppression/invalid_emails')
    add('invalid emails', invalid, 'invalid addresses are rejected when a message is submitted')
    add('IP addresses of complaints', texts, 'Postrider has no place for them')
  }
  add('subusers', await countOf(move, '/v3/subusers'), 'create subaccounts and run the import for each')
  const why = 'not imported; docs/importing.md describes how to create them again'
  counterparts.push({
    what: 'API keys, domains, senders, webhooks, settings, scheduled mail, statistics',
    count: null,
    why,
  })
  tally.leftBehind.push(...counterparts)
}

/** Returns 0 also if the key may not read the list. */
async function countOf({ source }: Move, path: string): Promise<number | string> {
  try {
    const { length } = list(await source.get(`${path}?limit=${PAGE}&offset=0`), path)
    return length < PAGE ? length : `${length} or more`
  } catch (error) {
    if (error instanceof SourceError) return 0
    throw error
  }
}
