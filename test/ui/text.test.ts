import { createFormat, foreign, html, lineChart, render } from '@postrider/ui'
import t from 'tap'

t.test('every text in a template is escaped, and pieces of HTML are not escaped twice', async (t) => {
  const hostile = `<img src=x onerror="alert('1')">&`
  const piece = html`<b title="${hostile}">${hostile}</b>`
  t.equal(
    await render(html`<p>${piece}${[piece, null, false, undefined]}</p>`),
    `<p>${'<b title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</b>'.repeat(2)}</p>`,
  )
})

t.test('an invisible sign in a text of others is shown by its number', async (t) => {
  t.equal(await render(foreign('invoice \u202efdp.exe')), '<bdi>invoice <span class="ctl">U+202E</span>fdp.exe</bdi>')
  t.equal(await render(foreign('a\u0000<b>')), '<bdi>a<span class="ctl">U+0000</span>&lt;b&gt;</bdi>')
  t.equal(await render(foreign('👩\u200d🔬')), '<bdi>👩\u200d🔬</bdi>')
})

t.test('numbers, shares, durations and times are written in both languages', async (t) => {
  const now = new Date('2026-11-22T23:31:58Z')
  const en = createFormat('en', 'UTC', now)
  const de = createFormat('de', 'Europe/Berlin', now)
  t.equal(en.number(1_234_567), '1,234,567')
  t.equal(de.number(1_234_567), '1.234.567')
  t.equal(en.share(81, 10_000), '0.81 %')
  t.equal(en.share(1, 1), '100 %')
  t.equal(en.share(0, 0), '–')
  t.strictSame([604, 1400, 38_000, 480_000, 3 * 3_600_000, 19 * 86_400_000].map(en.duration), [
    '604 ms',
    '1.4 s',
    '38 s',
    '8.0 min',
    '3 h',
    '19 days',
  ])
  t.strictSame(en.period('2026-10-01', '2026-11-22'), ['1 Oct', '22 Nov'])
  t.strictSame(en.period('2026-11-01', '2027-01-01'), ['1 Nov 2026', '1 Jan 2027'], 'both with the year, or none')
  t.match(await render(en.time(new Date('2026-11-22T23:31:46Z'))), '>23:31:46</time>')
  t.match(await render(de.time(new Date('2026-11-22T22:31:46Z'))), '>22. Nov', 'it is tomorrow there')
  const moment = new Date('2026-11-22T23:31:46.204Z')
  t.match(await render(en.moment(moment)), '>23:31:46.204</time>')
  t.match(await render(de.moment(moment)), '>00:31:46,204</time>', 'it is tomorrow there, and now, too')
  t.match(await render(en.moment(moment, new Date('2026-11-21T23:59:59Z'))), '>22 Nov 23:31:46.204</time>')
  t.match(await render(en.moment(new Date('2026-11-21T23:31:46Z'))), '>21 Nov 23:31:46.000</time>')
  t.match(await render(en.ago(new Date('2026-11-22T23:31:46Z'))), '>12 s ago</time>')
  t.match(await render(de.ago(new Date('2026-11-22T22:31:46Z'))), '>vor 1 h</time>')
})

t.test('a chart says its numbers in a sentence and in a table', async (t) => {
  const chart = await render(
    lineChart({
      series: [{ name: 'Sent <b>', colour: 1, values: [0, 7, 3] }],
      labels: ['a', 'b', 'c'],
      sentence: 'Three numbers',
      number: String,
      table: { summary: 'As a table', first: 'Letter' },
    }),
  )
  t.match(chart, 'aria-label="Three numbers"')
  t.match(chart, '<td>b</td><td class="n">7</td>')
  t.match(chart, '<span>8</span>', 'the axis ends at a round number')
  t.notMatch(chart, '<b>')
})
