import type { OPERATIONS } from '@postrider/api'
import type { Test } from 'tap'
import type { CallAnswer } from '../../call.ts'
import type { NamedCaller } from './caller.ts'
import type { Caller, Setting } from './entry.ts'
import { wallEntryOf } from './index.ts'

interface Parties extends Pick<NamedCaller, 'ask'> {
  readonly setting: Setting
  readonly owner: Caller
  readonly stranger: Caller
}

/** Tries an operation as a stranger to what it is about. */
export async function tryWall(
  t: Test,
  operation: (typeof OPERATIONS)[number],
  { setting, ask, owner, stranger }: Parties,
): Promise<void> {
  const { name } = operation
  const entry = wallEntryOf(operation)
  if (!entry) throw new Error(`${name} has no entry in test/api/v2/wall`)
  if (entry.kind === 'list') {
    const mark = await entry.make(setting, owner)
    const seen = await ask(owner, name, entry.input ?? {})
    t.ok(seen.text.includes(mark), `the owner sees ${mark}; an answer without it needs an entry in test/api/v2/wall`)
    t.notOk((await ask(stranger, name, entry.input ?? {})).text.includes(mark))
  } else if (entry.kind === 'object') {
    const input = await entry.make(setting, owner)
    const before = (await ask(owner, ...entry.seen(input))).text
    const missing = await ask(stranger, name, { ...input, ...entry.missing })
    const answer = await ask(stranger, name, input)
    if (entry.refusedWithin) t.match(missing.text, /"accepted":0,"refused":1/, 'what never was is refused')
    else t.not(missing.status, 200, 'what never was is refused')
    const bare = ({ status, text }: CallAnswer) => [status, entry.repeated ? text.replace(entry.repeated, '') : text]
    t.same(bare(answer), bare(missing))
    t.equal((await ask(owner, ...entry.seen(input))).text, before, 'unchanged')
  } else {
    await entry.make?.(setting, owner)
    const before = (await ask(owner, ...entry.seen)).text
    await ask(stranger, name, entry.input)
    t.equal((await ask(owner, ...entry.seen)).text, before, 'unchanged')
  }
}
