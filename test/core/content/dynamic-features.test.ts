import { checkDynamic, createDynamicRenderer, type TemplateData } from '@postrider/core'
import t from 'tap'

const renderer = createDynamicRenderer()
t.teardown(() => renderer.close())

const DATA: TemplateData = {
  name: 'Lena',
  said: `<b>"Tom" & 'Jo' \`=\``,
  ship: { name: 'Aurora', berth: { number: 7 } },
  crew: [
    { name: 'Lena', ports: ['Kiel', 'Riga'], chief: true },
    { name: 'Ole', ports: [], chief: false },
  ],
  ports: ['Kiel', 'Riga', 'Turku'],
  tide: { high: 4, low: 1 },
  none: [],
  zero: 0,
  text0: '0',
  empty: '',
  below: -3,
  three: 3,
  text3: '3',
  yes: true,
  no: false,
  nothing: null,
  date: '2 May',
  length: '12 m',
  insert: 'own',
  at: '2026-01-05T21:04:09.123Z',
  epoch: 1767647049,
  millis: 1767647049123,
  format: 'YYYY/MM/DD',
}

/** v3 contract section 2.7, one sentence a row. */
const FEATURES: readonly (readonly [what: string, template: string, rendered: string])[] = [
  ['a path is escaped', '{{said}}', '&lt;b&gt;&quot;Tom&quot; &amp; &#x27;Jo&#x27; &#x60;&#x3D;&#x60;'],
  ['three braces are not', '{{{said}}}', `<b>"Tom" & 'Jo' \`=\``],
  ['an ampersand is not either', '{{&said}}', `<b>"Tom" & 'Jo' \`=\``],
  ['a path goes down', '{{ship.name}} {{ship.berth.number}} {{ship/name}}', 'Aurora 7 Aurora'],
  ['a missing path is empty at any depth', '<{{x}}{{x.y.z}}{{name.y.z}}{{nothing.a}}{{{x}}}>', '<>'],
  [
    'null and missing are empty, other values are written',
    '{{nothing}}|{{zero}}|{{no}}|{{yes}}|{{below}}',
    '|0|false|true|-3',
  ],
  ['a list is written with commas', '{{ports}}', 'Kiel,Riga,Turku'],
  ['a list is read by number', '{{ports.[1]}} {{ports.0}} {{crew.[0].name}}', 'Riga Kiel Lena'],
  ['a list has a length', '{{ports.length}}', '3'],
  ['comments are left out', 'a{{! one }}b{{!-- two {{name}} --}}c', 'abc'],
  ['this is the context', '{{this.name}} {{./name}}', 'Lena Lena'],
  ['if', '{{#if yes}}a{{/if}}{{#if no}}b{{/if}}', 'a'],
  ['if, else', '{{#if no}}a{{else}}b{{/if}}', 'b'],
  ['if, else if, else', '{{#if no}}a{{else if nothing}}b{{else if yes}}c{{else}}d{{/if}}', 'c'],
  ['if, else if, else: none', '{{#if no}}a{{else if nothing}}b{{else}}d{{/if}}', 'd'],
  [
    'what counts as nothing: "", 0, false, null, missing, []',
    '{{#if empty}}a{{/if}}{{#if zero}}b{{/if}}{{#if no}}c{{/if}}{{#if nothing}}d{{/if}}{{#if x}}e{{/if}}{{#if none}}f{{/if}}',
    '',
  ],
  [
    'other text and numbers count, also "0" and -3',
    '{{#if text0}}a{{/if}}{{#if below}}b{{/if}}{{#if tide}}c{{/if}}',
    'abc',
  ],
  ['0 counts with includeZero', '{{#if zero includeZero=true}}a{{/if}}', 'a'],
  ['unless', '{{#unless no}}a{{/unless}}{{#unless yes}}b{{else}}c{{/unless}}', 'ac'],
  ['each with this', '{{#each ports}}<{{this}}>{{/each}}', '<Kiel><Riga><Turku>'],
  ['each with this.prop and prop', '{{#each crew}}{{this.name}}={{name}} {{/each}}', 'Lena=Lena Ole=Ole '],
  [
    'each with @index, @first, @last',
    '{{#each ports}}{{@index}}{{#if @first}}F{{/if}}{{#if @last}}L{{/if}} {{/each}}',
    '0F 1 2L ',
  ],
  ['each with @key over an object', '{{#each tide}}{{@key}}:{{this}} {{/each}}', 'high:4 low:1 '],
  ['each with ../', '{{#each crew}}{{name}} of {{../ship.name}}. {{/each}}', 'Lena of Aurora. Ole of Aurora. '],
  [
    'each in each',
    '{{#each crew}}{{#each ports}}{{../name}}@{{this}}#{{@../index}} {{/each}}{{/each}}',
    'Lena@Kiel#0 Lena@Riga#0 ',
  ],
  ['each, else', '{{#each none}}a{{else}}none{{/each}}{{#each x}}a{{else}}!{{/each}}', 'none!'],
  ['each with names', '{{#each crew as |sailor at|}}{{at}}{{sailor.name}}{{/each}}', '0Lena1Ole'],
  ['blocks of if keep the context', '{{#each crew}}{{#if chief}}{{name}} {{../name}}{{/if}}{{/each}}', 'Lena Lena'],
  ['@root is the data', '{{#each crew}}{{#each ports}}{{@root.ship.name}} {{/each}}{{/each}}', 'Aurora Aurora '],
  [
    'equals compares with coercion',
    '{{#equals three text3}}a{{/equals}}{{#equals three 3}}b{{/equals}}{{#equals "3" three}}c{{/equals}}',
    'abc',
  ],
  ['equals, else', '{{#equals name "Ole"}}a{{else}}b{{/equals}}', 'b'],
  ['equals is case-sensitive', '{{#equals name "lena"}}a{{else}}b{{/equals}}', 'b'],
  [
    'equals true is what counts as something',
    '{{#equals name true}}a{{/equals}}{{#equals empty true}}b{{/equals}}{{#equals x false}}c{{/equals}}',
    'ac',
  ],
  ['equals a missing one', '{{#equals x nothing}}a{{/equals}}{{#equals x ""}}b{{/equals}}', 'a'],
  [
    'notEquals',
    '{{#notEquals name "Ole"}}a{{else}}b{{/notEquals}}{{#notEquals three "3"}}c{{else}}d{{/notEquals}}',
    'ad',
  ],
  [
    'equals chained, one closing tag a block',
    '{{#equals name "x"}}a{{else}}{{#equals name "Lena"}}b{{else}}c{{/equals}}{{/equals}}',
    'b',
  ],
  ['equals chained by else', '{{#equals name "x"}}a{{else equals name "Lena"}}b{{else}}c{{/equals}}', 'b'],
  [
    'greaterThan and lessThan',
    '{{#greaterThan three 2}}a{{/greaterThan}}{{#greaterThan three 3}}b{{else}}c{{/greaterThan}}{{#lessThan below 0}}d{{/lessThan}}',
    'acd',
  ],
  [
    'greaterThan compares numbers',
    '{{#greaterThan "10" "9"}}a{{/greaterThan}}{{#greaterThan x 0}}b{{else}}c{{/greaterThan}}',
    'ac',
  ],
  ['and', '{{#and yes name}}a{{/and}}{{#and yes zero}}b{{else}}c{{/and}}{{#and yes name three}}d{{/and}}', 'acd'],
  ['or', '{{#or no name}}a{{/or}}{{#or empty zero}}b{{else}}c{{/or}}{{#or no zero below}}d{{/or}}', 'acd'],
  [
    'length without parentheses has its natural meaning',
    '{{#greaterThan 0 length ports}}none{{else}}some{{/greaterThan}}',
    'some',
  ],
  ['length without parentheses first', '{{#greaterThan length ports 0}}some{{else}}none{{/greaterThan}}', 'some'],
  [
    'length with parentheses',
    '{{#greaterThan (length ports) 2}}many{{/greaterThan}}{{#equals (length none) 0}}0{{/equals}}',
    'many0',
  ],
  ['length in if', '{{#if length ports}}a{{/if}}{{#if length none}}b{{/if}}', 'a'],
  ['length is printed', '{{length ports}} {{length name}} {{length tide}} {{length x}}', '3 4 0 0'],
  ['length of the data where nothing follows', '{{length}} {{#equals length "12 m"}}a{{/equals}}', '12 m a'],
  [
    'insert a value or its fallback',
    '{{insert name "default=you"}} {{insert x "default=you"}} {{insert empty "you"}} {{insert zero "you"}}',
    'Lena you you 0',
  ],
  ['insert escapes', '{{insert x "<b>"}}{{{insert x "<b>"}}}', '&lt;b&gt;<b>'],
  ['a helper name without values is a member of the data', '{{insert}}', 'own'],
  ['date is a member of the data as any other', '{{date}} {{this.date}}', '2 May 2 May'],
  ['formatDate of an ISO date', '{{formatDate at "YYYY-MM-DD HH:mm:ss"}}', '2026-01-05 21:04:09'],
  [
    'formatDate of seconds and of milliseconds',
    '{{formatDate epoch "YY MMM D"}} {{formatDate millis "YY MMM D"}}',
    '26 Jan 5 26 Jan 5',
  ],
  [
    'formatDate tokens of the day',
    '{{formatDate at "YYYY YY MMMM MMM MM M DD D dddd ddd"}}',
    '2026 26 January Jan 01 1 05 5 Monday Mon',
  ],
  [
    'formatDate tokens of the time',
    '{{formatDate at "HH H hh h mm m ss s A ZZ Z"}}',
    '21 21 09 9 04 4 09 9 PM +0000 +00:00',
  ],
  [
    'formatDate at an offset',
    '{{formatDate at "DD HH:mm ZZ" "-0800"}} {{formatDate at "DD HH:mm Z" "+05:30"}}',
    '05 13:04 -0800 06 02:34 +05:30',
  ],
  [
    'formatDate of ordinals',
    [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30]
      .map((day) => `{{formatDate "2026-01-${String(day).padStart(2, '0')}" "Do"}}`)
      .join(' '),
    '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 30th',
  ],
  ['formatDate at an offset without quotes', '{{formatDate at "HH:mm" -0800}}', '13:04'],
  ['formatDate by a format of the data', '{{formatDate at format}}', '2026/01/05'],
  [
    'formatDate of what is no date is empty',
    '<{{formatDate name "YYYY"}}{{formatDate x "YYYY"}}{{formatDate "2026-02-31" "YYYY"}}>',
    '<>',
  ],
  ['formatDate of a date with a zone', '{{formatDate "2026-01-05T00:30:00+02:00" "DD HH:mm"}}', '04 22:30'],
  ['with renders nothing', 'a{{#with ship}}{{name}}{{else}}x{{/with}}b', 'ab'],
  [
    'a section of a list, an object, a flag',
    '{{#crew}}{{name}},{{/crew}}{{#ship}}{{name}}{{/ship}}{{#yes}}!{{/yes}}',
    'Lena,Ole,Aurora!',
  ],
  ['an inverted section', '{{^none}}a{{/none}}{{^ports}}b{{/ports}}', 'a'],
  ['a tilde takes white space off', 'a \n {{~name~}} \n b', 'aLenab'],
  ['a line of a block tag alone leaves no line', 'a\n{{#if yes}}\nb\n{{/if}}\nc', 'a\nb\nc'],
  ['a backslash writes a tag out', '\\{{name}} \\\\{{name}}', '{{name}} \\Lena'],
  ['a name in brackets', '{{[name]}} {{ship.[name]}}', 'Lena Aurora'],
  ['dollar signs are text', '$1 $& {{name}}', '$1 $& Lena'],
  ['braces that are no tags are text', '{ {a} } }} {name}', '{ {a} } }} {name}'],
]

for (const [what, template, rendered] of FEATURES) {
  t.test(`${what}: ${template}`, async (t) => {
    t.strictSame(await renderer.renderDynamic({ html: template }, [DATA]), [
      { kind: 'rendered', subject: undefined, html: rendered, text: undefined },
    ])
  })
}

/** What does not parse, and where. */
const BROKEN: readonly (readonly [what: string, template: string, line: number, column: number, says: RegExp])[] = [
  ['a block that is not closed', 'a\n{{#if x}}b', 2, 1, /is not closed; end it with \{\{\/if\}\}$/],
  [
    'a block closed by another',
    '{{#if x}}b{{/each}}',
    1,
    11,
    /"if" is closed by another tag; end it with \{\{\/if\}\}$/,
  ],
  ['a closing tag alone', 'a{{/if}}', 1, 2, /no open block/],
  ['an else alone', '{{else}}', 1, 1, /no open block/],
  ['a second else', '{{#if a}}{{else}}{{else}}{{/if}}', 1, 18, /duplicate else/],
  ['a tag without end', 'a {{name', 1, 3, /not closed/],
  ['three braces and two', '{{{name}}', 1, 1, /not closed/],
  ['an empty tag', '{{}}', 1, 3, /expression expected/],
  ['a comment without end', '{{!-- a }}', 1, 1, /comment is not closed/],
  ['a text without end', '{{insert x "a}}', 1, 12, /string is not closed/],
  ['an unknown helper', '{{shout name}}', 1, 1, /unknown helper "shout"; the helpers are if, .* and insert$/],
  ['a helper of another name', '{{#if (eq a "b")}}c{{/if}}', 1, 7, /unknown helper "eq"; use equals$/],
  ['an unknown block', '{{#repeat 3}}a{{/repeat}}', 1, 1, /unknown helper "repeat"/],
  ['if without a value', '{{#if}}a{{/if}}', 1, 1, /#if takes 1/],
  ['if with two', '{{#if a b}}a{{/if}}', 1, 1, /#if takes 1/],
  ['equals with one', '{{#equals a}}a{{/equals}}', 1, 1, /#equals takes 2/],
  ['formatDate with one', '{{formatDate a}}', 1, 1, /formatDate takes 2 to 3/],
  ['a partial', '{{> footer}}', 1, 1, /partials are not supported; put their text into the template$/],
  ['a raw block', '{{{{raw}}}}a{{{{/raw}}}}', 1, 1, /raw blocks are not supported/],
  ['a bar', '{{name | you}}', 1, 8, /expected/],
  ['a strange character', '{{a ; b}}', 1, 5, /";" is not allowed here/],
]

for (const [what, template, line, column, says] of BROKEN) {
  t.test(`${what} does not parse, and the answer says where: ${template}`, async (t) => {
    const checked = checkDynamic(template)
    if (checked.ok) return t.fail('it parses')
    t.equal(checked.failure.why, 'syntax')
    t.strictSame([checked.failure.line, checked.failure.column], [line, column])
    t.match(checked.failure.sentence, says)
    const rendered = await renderer.renderDynamic({ text: 'fine', html: template }, [{}, {}])
    t.strictSame(rendered, Array(2).fill({ kind: 'failed', failure: { ...checked.failure, part: 'html' } }))
    t.strictSame(await renderer.check(template), checked)
  })
}

t.test('subject, html and text are rendered for each recipient, in order', async (t) => {
  const template = { subject: 'Berth for {{{name}}}', html: '<p>{{name}}</p>', text: '{{{name}}}' }
  const names = Array.from({ length: 1000 }, (_, at) => `<${at}>`)
  const rendered = await renderer.renderDynamic(
    template,
    names.map((name) => ({ name })),
  )
  t.strictSame(
    rendered,
    names.map((name) => ({
      kind: 'rendered',
      subject: `Berth for ${name}`,
      text: name,
      html: `<p>${name.replace('<', '&lt;').replace('>', '&gt;')}</p>`,
    })),
  )
})

t.test('without a recipient there is no rendering', async (t) => {
  t.strictSame(await renderer.renderDynamic({ html: 'a' }, []), [])
})

t.test('a subject is one line whatever the data holds', async (t) => {
  const [rendered] = await renderer.renderDynamic({ subject: 'a {{{x}}}' }, [
    { x: 'b\r\nBcc: lena@harbor.example\u2028c\u0085\n' },
  ])
  t.strictSame(rendered, {
    kind: 'rendered',
    html: undefined,
    text: undefined,
    subject: 'a b Bcc: lena@harbor.example c',
  })
})

t.test('the same template and data give the same text, whatever the time and zone', async (t) => {
  const template = { html: '{{#each this}}{{@key}}={{this}};{{/each}}{{formatDate at "HH Z"}}{{formatDate x "HH"}}' }
  const [first] = await renderer.renderDynamic(template, [DATA])
  for (let again = 0; again < 5; again++) t.strictSame(await renderer.renderDynamic(template, [DATA]), [first])
})
