import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { longestTurnOf } from '../../helpers/turns.ts'
import { ask, refusedV3 } from './ask.ts'
import { type Fields, mailBody } from './mail.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const send = (body: string) => ask(base, { path: '/mail/send', key: sender.apiKey, body })
const bodyOf = (fields: Fields): string => JSON.stringify(mailBody(sender, fields))
const toPeople = (count: number, of: (at: number) => Fields): Fields => ({
  personalizations: Array.from({ length: count }, (_, at) => ({ to: [{ email: `r${at}@harbor.example` }], ...of(at) })),
})
const letter = (at: number): string => String.fromCharCode(0x4e00 + at)
const sectionsOf = (count: number, length: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [letter(at).repeat(length), 'x']))

await send(bodyOf({}))

t.test('more than 65,536 characters of section tags are refused, and not made ready first', async (t) => {
  const body = bodyOf({ ...toPeople(1, () => ({ substitutions: { '-a-': 'x' } })), sections: sectionsOf(40, 9999) })
  const longest = await longestTurnOf(250, async () => {
    refusedV3(t, await send(body), [400, /^sections must have at most 10,000 keys/, 'sections'])
  })
  t.ok(longest < 250, `${longest} ms`)
})

t.test('sections are prepared once per message, though each recipient has different keys', async (t) => {
  const people = toPeople(30, (at) => ({ substitutions: { [`-a${at}-`]: 'x' } }))
  const body = bodyOf({ ...people, subject: 'For -a1-', sections: sectionsOf(6, 9999) })
  const longest = await longestTurnOf(300, async () => t.equal((await send(body)).status, 202))
  t.ok(longest < 300, `${longest} ms`)
})

t.test('a thousand recipients with ten kilobytes of keys each delay no other call', async (t) => {
  const key = (at: number): string => `${letter(at)}${'a'.repeat(9900)}`
  const body = bodyOf(toPeople(1000, (at) => ({ substitutions: { [key(at)]: 'x' } })))
  const longest = await longestTurnOf(600, async () => t.equal((await send(body)).status, 202))
  // To read ten megabytes of JSON and to write them is a turn each.
  t.ok(longest < 600, `${longest} ms`)
})

t.test('a header that values would make too long is refused before it is made', async (t) => {
  const people = toPeople(1, () => ({ substitutions: { a: 'x'.repeat(9000) } }))
  const body = bodyOf({ ...people, subject: 'a'.repeat(4000) })
  const longest = await longestTurnOf(250, async () => {
    const place = 'personalizations.0.substitutions'
    refusedV3(t, await send(body), [400, /header must have at most 4096 characters/, place])
  })
  t.ok(longest < 250, `${longest} ms`)
})
