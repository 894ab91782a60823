import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { core, env } = service
const LETTER = 'From: Mina <mina@quay.example>\r\nSubject: Hm\r\n\r\nPlease \x1b[2Jcall me.\r\n'
const COMPLAINT = [
  'From: feedback@arf.harbor.example',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
  '',
  '--b',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: abuse\r\nUser-Agent: Harbor/1\r\nVersion: 1\r\n',
  '--b--',
  '',
].join('\r\n')

interface Listed {
  readonly id: string
  readonly kind: string
}

const take = (raw: string, to: string) => core.returns.take({ raw: Buffer.from(raw), recipients: [to] })
await take(LETTER, 'abuse@relay.test')
await take(COMPLAINT, 'fbl@relay.test')
await take('nothing to read', 'desk@relay.test')

t.test('what came back is listed newest first, by kind and by sender, in pages', async (t) => {
  const all = await answered<Listed[]>(env, 'returns', 'list')
  t.match(all, [
    { kind: 'complaint', role: 'fbl', effect: 'none', why: 'unsigned', reporter: 'arf.harbor.example', isKept: true },
    { kind: 'letter', role: 'abuse', why: 'letter', reporter: 'quay.example', size: LETTER.length, isKept: true },
  ])
  t.equal(all.length, 2, 'mail to nobody is not stored')
  t.match(await answered(env, 'returns', 'list', '--kind', 'letter'), [{ kind: 'letter' }])
  t.match(await answered(env, 'returns', 'list', '--from', 'Quay.example'), [{ kind: 'letter' }])
  t.strictSame(await answered(env, 'returns', 'list', '--since', '2100-01-01'), [])
  t.strictSame(await answered(env, 'returns', 'list', '--message', '0'.repeat(32)), [])
  const first = await postrider(env, 'returns', 'list', '--limit', '1')
  t.match(first.stdout, /^id +received +kind/)
  t.match(first.stdout, `continue with --after ${all[0]?.id}`)
  t.match(await answered(env, 'returns', 'list', '--after', all[0]?.id ?? ''), [{ kind: 'letter' }])
})

t.test('a letter is shown without what would control the terminal, and unchanged with --raw', async (t) => {
  const [letter] = await answered<Listed[]>(env, 'returns', 'list', '--kind', 'letter')
  const shown = await postrider(env, 'returns', 'show', letter?.id ?? '')
  t.match(shown.stdout, /^effect {6}no effect: a letter to the operator$/m)
  t.match(shown.stdout, /^sent to {5}abuse@$/m)
  t.match(shown.stdout, /Please .\[2Jcall me/)
  t.notMatch(shown.stdout, '\x1b')
  t.equal((await postrider(env, 'returns', 'show', '--raw', letter?.id ?? '')).stdout.trimEnd(), LETTER.trimEnd())
  t.match(await answered(env, 'returns', 'show', letter?.id ?? ''), { kind: 'letter', content: LETTER })
})

t.test('complaints are counted by the domain that reports them', async (t) => {
  t.match(await answered(env, 'returns', 'feedback'), [{ reporter: 'arf.harbor.example', complaints: 1, unmatched: 1 }])
  t.match((await postrider(env, 'returns', 'feedback')).stdout, /^arf\.harbor\.example +1 +1 /m)
})

t.test('what is kept is read again, and says how much it was', async (t) => {
  t.match(await answered(env, 'returns', 'reread'), { read: 2, recognised: 0, effects: 0 })
  t.match(await postrider(env, 'returns', 'reread', '--kind', 'letter'), {
    code: 0,
    stdout: /^1 read again: 0 recognised, 0 with an effect$/m,
  })
})

t.test('letters are deleted by kind and sender', async (t) => {
  t.strictSame(await answered(env, 'returns', 'delete', '--kind', 'letter', '--from', 'other.example', '--yes'), {
    deleted: 0,
  })
  t.strictSame(await answered(env, 'returns', 'delete', '--kind', 'letter', '--from', 'quay.example', '--yes'), {
    deleted: 1,
  })
  t.match(await answered(env, 'returns', 'list'), [{ kind: 'complaint' }])
})

t.test('wrong options are named', async (t) => {
  for (const [args, message] of [
    [['list', '--kind', 'bounces'], /--kind must be one of bounce, complaint/],
    [['delete'], /missing option --kind/],
    [['list', '--limit', '0'], /--limit must be from 1 to 1000/],
    [['list', '--after', 'x'], /--after must be an id/],
    [['list', '--since', 'someday'], /--since must be/],
    [['list', '--message', '12'], /--message must be the id of a message \(got "12"\)/],
    [['show', '12'], /id must be an id from "returns list"/],
    [['reread', '--kind', 'bounce'], /--kind must be one of unrecognised/],
  ] as const) {
    t.match(await postrider(env, 'returns', ...args), { code: 2, stderr: message }, args.join(' '))
  }
  const absent = '019b8d6a-0000-7000-8000-000000000000'
  t.match(await postrider(env, 'returns', 'show', absent), { code: 1, stderr: /not found/ })
})
