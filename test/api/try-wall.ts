import type { Test } from 'tap'
import type { TestService } from '../helpers/service.ts'

/** Somebody with a key: the owner of what is asked for, or a stranger to it. */
export interface Caller {
  readonly accountId: number
  readonly apiKey: string
  /** The active sending domain. */
  readonly domain: string
}

interface Answer {
  readonly status: number
  readonly text: string
}

type Seen<Input> = readonly [operation: string, input: Input]
type Make<Setting, Made> = (setting: Setting, owner: Caller) => Promise<Made>

/**
 * How the wall around an account is tried for an operation, by everybody but the owner, and then by the owner, who has to succeed: otherwise
 * something else than the wall might have refused the others.
 *
 * - `object`: names one thing. A stranger who names the owner's gets what he gets for one that never was, and it is unchanged. The owner gets another answer.
 * - `list`: a stranger's answer does not hold the mark of the owner's thing, and the owner's does.
 * - `own`: changes or makes only what belongs to the caller; the owner's answer to `seen` stays as it was, until the owner makes the same call.
 * - `none`: it tells of nothing but the key it is called with.
 */
export type WallEntry<Input, Setting> =
  | {
      readonly kind: 'object'
      readonly make: Make<Setting, Input>
      /** Names one that never was; put over what `make` answered. */
      readonly missing: Input
      /** What the answers repeat of the call, and may differ in. */
      readonly repeated?: RegExp
      /** What the owner asks to see that it is unchanged. */
      readonly seen: (input: Input) => Seen<Input>
    }
  | { readonly kind: 'list'; readonly make: Make<Setting, string>; readonly input?: Input }
  | {
      readonly kind: 'own'
      readonly make?: Make<Setting, unknown>
      readonly input: Input | ((caller: Caller) => Input)
      readonly seen: Seen<Input>
      /** The owner, if it has to be another one. */
      readonly owner?: (setting: Setting) => Promise<Caller>
      /** What the owner's call changes is not in the answer to `seen`, for this reason. */
      readonly unseen?: string
    }
  | { readonly kind: 'none'; readonly make?: undefined; readonly input?: Input }

/** Who may not call the operation at all, and the status of the refusal. */
export type Refused = Readonly<Record<string, readonly [caller: Caller, status: 401 | 403]>>

/** Returns, by the scope of an operation, who is refused: nobody, a wrong key, and a key of the owner with another scope alone. */
export async function refusedCallers({ core }: TestService, owner: Caller): Promise<(scope: string | null) => Refused> {
  const keyFor = async (...scopes: readonly string[]): Promise<Caller> => {
    const { secret } = await core.auth.createKey({ accountId: owner.accountId, scopes } as never)
    return { ...owner, apiKey: secret }
  }
  const [reader, sender] = [await keyFor('stats'), await keyFor('send')]
  return (scope) => ({
    nobody: [{ ...owner, apiKey: '' }, 401],
    'a wrong key': [{ ...owner, apiKey: `${owner.apiKey.slice(0, -4)}AAAA` }, 401],
    ...(scope === null ? {} : { 'a key of another scope': [scope === 'stats' ? sender : reader, 403] }),
  })
}

interface Trial<Input, Setting> {
  readonly name: string
  readonly entry: WallEntry<Input, Setting>
  readonly setting: Setting
  readonly ask: (caller: Caller, operation: string, input: Input) => Promise<Answer>
  readonly owner: Caller
  /** Callers with every right in another account. */
  readonly strangers: Readonly<Record<string, Caller>>
  readonly refused: Refused
}

/** Tries an operation as everybody to whom it is closed, and as its owner. */
export async function tryWall<Input extends object, Setting>(t: Test, trial: Trial<Input, Setting>): Promise<void> {
  const { name, entry, setting, strangers, refused } = trial
  const owner = entry.kind === 'own' && entry.owner ? await entry.owner(setting) : trial.owner
  const ask = (caller: Caller, input: Input) => trial.ask(caller, name, input)
  /** The owner's answer, after the refusals of those who may not call at all. */
  const ownersAnswer = async (input: Input) => {
    for (const [who, [caller, status]] of Object.entries(refused))
      t.equal((await ask(caller, input)).status, status, `as ${who}`)
    const answer = await ask(owner, input)
    t.ok(answer.status < 300, `the owner succeeds: ${answer.status} ${answer.text.slice(0, 300)}`)
    return answer
  }
  if (entry.kind === 'none') {
    await ownersAnswer(entry.input ?? ({} as Input))
  } else if (entry.kind === 'list') {
    const { make, input = {} as Input } = entry
    const mark = await make(setting, owner)
    for (const [who, stranger] of Object.entries(strangers))
      t.notOk((await ask(stranger, input)).text.includes(mark), `as ${who}`)
    t.ok(
      (await ownersAnswer(input)).text.includes(mark),
      `the owner sees ${mark}; else it needs an entry in a folder "wall"`,
    )
  } else if (entry.kind === 'object') {
    const input = await entry.make(setting, owner)
    const seen = async () => (await trial.ask(owner, ...entry.seen(input))).text
    const before = await seen()
    const bare = ({ status, text }: Answer) => [status, entry.repeated ? text.replace(entry.repeated, '') : text]
    let got: unknown
    for (const [who, stranger] of Object.entries(strangers)) {
      got = bare(await ask(stranger, input))
      t.same(got, bare(await ask(stranger, { ...input, ...entry.missing })), `as ${who}`)
    }
    t.equal(await seen(), before, 'unchanged')
    t.notSame(bare(await ownersAnswer(input)), got, 'the owner gets another answer')
  } else {
    await entry.make?.(setting, owner)
    const inputOf = (caller: Caller) => (typeof entry.input === 'function' ? entry.input(caller) : entry.input)
    const seen = async () => (await trial.ask(owner, ...entry.seen)).text
    const before = await seen()
    for (const stranger of Object.values(strangers)) await ask(stranger, inputOf(stranger))
    t.equal(await seen(), before, 'unchanged')
    await ownersAnswer(inputOf(owner))
    if (entry.unseen === undefined) t.not(await seen(), before, 'changed by the owner')
  }
}
