import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { longestTurnOf } from '../../helpers/turns.ts'
import { ask } from './ask.ts'

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
  t.test(
    `plain text of 250 kB of ${one} is generated, also again from the stored HTML, and delays no others`,
    async (t) => {
      const html_content = first.repeat(125_000 / first.length) + then.repeat(125_000 / then.length)
      const made = await add({ html_content: `${html_content}ahoy` })
      t.match(made.json, { plain_content: /ahoy$/ })
      const again = { generate_plain_content: true }
      const edit = () =>
        ask(base, { key, method: 'PATCH', path: `/templates/${id}/versions/${made.json?.id}`, body: again })
      t.ok((await longestTurnOf(25, edit)) < 25)
    },
  )
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
      'Pay (https://quay.example/a) at https://quay.example\n',
      '- one\n- two\n',
      'Harbour',
    ].join('\n'),
  })
})
