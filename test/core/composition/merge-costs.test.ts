import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { longestTurnOf } from '../../helpers/turns.ts'
import { refused } from '../refused.ts'
import { envelopeTo, submissionOf } from '../submission.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const htmlOf = (html: string) => ({ content: { kind: 'parts', html, text: undefined, amp: undefined } }) as const
const evaluate = async (extra: Parameters<typeof submissionOf>[2]) =>
  service.core.messages.validateOnly(await submissionOf(service, sender, extra))

await evaluate({})

t.test('five million merge tags, or as many beginnings of some, delay no others', async (t) => {
  for (const html of ['[%a%]'.repeat(5_000_000), '[%'.repeat(12_000_000), `[%a${' '.repeat(25_000_000)}`]) {
    const longest = await longestTurnOf(150, () => evaluate(htmlOf(html)))
    t.ok(longest < 150, `${longest} ms`)
  }
})

t.test('ten thousand recipients with a subject full of tags delay no others', async (t) => {
  const envelopes = Array.from({ length: 10_000 }, (_, at) =>
    envelopeTo(`r${at}@harbor.example`, { attributes: { a: 'b' } }),
  )
  const longest = await longestTurnOf(150, () => evaluate({ subject: '[%a%]'.repeat(600), envelopes }))
  t.ok(longest < 150, `${longest} ms`)
})

t.test(
  'content of more different merge tags than are counted is refused, but not where they are plain text',
  async (t) => {
    const html = Array.from({ length: 100_001 }, (_, at) => `[%n${at}%]`).join('')
    t.equal(await refused(evaluate(htmlOf(html))), 'parameterInvalid')
    await evaluate({ ...htmlOf(html), door: 'v3', literal: true })
  },
)
