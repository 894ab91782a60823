import t from 'tap'
import { longestTurnOf } from '../helpers/turns.ts'
import { makeSmtpApiMail } from './smtpapi-mail.ts'

const { send, someone } = await makeSmtpApiMail(t)
const letter = (at: number): string => String.fromCharCode(0x41 + at)
const sectionsOf = (count: number, length: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [letter(at).repeat(length), 'x']))

await send({ category: 'first' })

t.test(
  'sections and tags of more than 65,536 characters are told to the sender, and not made ready first',
  async (t) => {
    for (const api of [
      { sub: { '-a-': ['x'] }, section: sectionsOf(20, 9999) },
      { sub: Object.fromEntries(Object.keys(sectionsOf(20, 9999)).map((tag) => [tag, ['x']])) },
    ]) {
      const longest = await longestTurnOf(300, async () => {
        const { deliveries } = await send({ to: [someone()], ...api })
        t.match(deliveries, [{ state: 'dropped' }])
      })
      t.ok(longest < 300, `${longest} ms`)
    }
  },
)

t.test('values of unique_args for fifteen hundred recipients delay no others', async (t) => {
  const to = Array.from({ length: 1500 }, () => someone())
  const api = { to, sub: { a: to.map(() => 'b') }, unique_args: { x: 'a'.repeat(9000) } }
  const longest = await longestTurnOf(900, async () => {
    const { deliveries } = await send(api)
    t.equal(deliveries.length, 1500)
  })
  t.ok(longest < 900, `${longest} ms`)
})
