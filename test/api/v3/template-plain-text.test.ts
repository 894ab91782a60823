import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'

const service = await makeService(t)
const base = await service.openApi()
const { apiKey: key } = await service.makeSender()
const call = (path: string, body: unknown) => ask(base, { key, method: 'POST', path, body })
const { id } = (await call('/templates', { name: 'a', generation: 'legacy' })).json as { id: string }
const add = (version: Record<string, unknown>) =>
  call(`/templates/${id}/versions`, { name: 'v', subject: 's', ...version })

for (const [first, then] of [
  ['<div>', '</p>'],
  ['<ul><li>', '<ul><li>'],
] as const) {
  const one = `${first} and ${then}`
  t.test(`HTML of 250 kB of ${one} is refused when its plain text takes too long, and delays no others`, async (t) => {
    const html_content = first.repeat(125_000 / first.length) + then.repeat(125_000 / then.length)
    const before = process.threadCpuUsage()
    const answer = await add({ html_content })
    const { user, system } = process.threadCpuUsage(before)
    t.comment(`figures: ${one} ${Math.round((user + system) / 1000)} ms of the main loop, status ${answer.status}`)
    t.ok(user + system < 500_000)
    // On a quick machine one of them may be made in time.
    if (answer.status !== 201) {
      refusedV3(t, answer, [400, /plain text takes too long to generate/, 'html_content'])
      t.equal((await add({ html_content, generate_plain_content: false })).status, 201, 'none is to be made')
    }
  })
}

t.test('requested plain text is made again from what the version then contains', async (t) => {
  const made = await add({ html_content: '<p>one</p>' })
  t.match(made.json, { plain_content: 'one' })
  const path = `/templates/${id}/versions/${made.json?.id}`
  const edit = (body: unknown) => ask(base, { key, method: 'PATCH', path, body })
  t.match((await edit({ plain_content: 'own' })).json, { plain_content: 'own' })
  const both = await Promise.all([edit({ generate_plain_content: true }), edit({ html_content: '<p>two</p>' })])
  t.strictSame(
    both.map(({ status }) => status),
    [200, 200],
  )
  t.match((await ask(base, { key, method: 'GET', path })).json, { plain_content: 'two' })
})

t.test('generated plain text keeps cells and rows apart, and has what a recipient sees', async (t) => {
  const html_content = [
    '<head><title>Receipt</title><style>p{}</style></head><body><div style="Display: NONE">Preheader</div><!-- note -->',
    '<table><tr><th>Berth</th><td>2</td><td>$5</td></tr><tr><td><b>Rope</b></td><td>{{count}}</td><td>&euro;1</td></tr></table>',
    '<p><a href="https://quay.example/a">Pay</a> at <a href="https://quay.example">https://quay.example</a></p>',
    '<ul><li>one<li>two</ul><img src="https://quay.example/l.png" alt="Harbour"><img src="https://quay.example/p.gif">',
  ].join('')
  t.match((await add({ html_content })).json, {
    plain_content: [
      'Berth 2 $5\nRope {{count}} €1\n',
      'Pay [https://quay.example/a] at https://quay.example\n',
      ' * one\n * two\n',
      'Harbour',
    ].join('\n'),
  })
})
