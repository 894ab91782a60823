import Handlebars from 'handlebars'
import t from 'tap'
import { compile, renderCompiled } from '../../../packages/core/src/content/engine/template.ts'

/*
 * Templates put together by chance are rendered by Handlebars itself too: what is standard there has to be the same here, white
 * space and all.
 */
const DATA = {
  a: 1,
  s: `x<y>&'"\`=`,
  z: 0,
  e: '',
  n: null,
  t: true,
  f: false,
  l: [1, 'b', { c: 'd' }],
  el: [],
  o: { k: 'v', m: { n: [5, 6] } },
  'sp ace': 'sp',
  items: [
    { name: 'A', subs: [1, 2] },
    { name: 'B', subs: [] },
  ],
}
const PIECES = [
  '{{a}}',
  '{{s}}',
  '{{{s}}}',
  '{{&s}}',
  '{{o.m.n}}',
  '{{x.y.z}}',
  '{{n}}',
  '{{z}}',
  '{{f}}',
  '{{t}}',
  '{{e}}',
  '{{l}}',
  '{{l.length}}',
  '{{s.length}}',
  '{{l.[2].c}}',
  '{{[sp ace]}}',
  '{{"s"}}',
  '{{this.a}}',
  '{{./a}}',
  '{{this}}',
  '{{k}}',
  '{{! c }}',
  '{{!-- {{c}} --}}',
  '{{~!-- c --~}}',
  '\n',
  '\n',
  '  ',
  '\n  ',
  ' x ',
  '\r\n',
  'text\n',
  ' { ',
  ' } ',
  '\\\\{{a}}',
  '\\{{a}} ',
  '{{@index}}',
  '{{@key}}',
  '{{@first}}',
  '{{@last}}',
  '{{@../index}}',
  '{{@root.a}}',
  '{{../name}}',
  '{{../../a}}',
  '{{name}}',
  '{{~a~}}',
  '{{~{s}~}}',
  '{{it}}-{{ix}}',
]
const OPENINGS: readonly (readonly [open: string, close: string])[] = [
  ['{{#if a}}', '{{/if}}'],
  ['{{#if z}}', '{{/if}}'],
  ['{{~#if t~}}', '{{~/if~}}'],
  ['{{#if f}}', '{{/if}}'],
  ['{{#if z includeZero=true}}', '{{/if}}'],
  ['{{#unless f}}', '{{/unless}}'],
  ['{{#each l}}', '{{/each}}'],
  ['{{#each items}}', '{{/each}}'],
  ['{{#each o}}', '{{/each}}'],
  ['{{#each subs}}', '{{~/each}}'],
  ['{{#each l as |it ix|}}', '{{/each}}'],
  ['{{#o}}', '{{/o}}'],
  ['{{#l}}', '{{/l}}'],
  ['{{#el}}', '{{/el}}'],
]
const ROUNDS = 500
const ELSES = ['{{else}}', '{{^}}', '{{~else~}}', '{{else if t}}', '{{else if z}}', '\n{{else}}\n', '{{else unless a}}']

t.test('five hundred templates render as Handlebars renders them', async (t) => {
  const next = randomNumbers(20260105)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  let same = 0
  const different: unknown[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const text = randomTemplate(next, pick, 0)
    const wanted = Handlebars.compile(text)(DATA)
    const rendered = ours(text)
    if (rendered === wanted) same++
    else different.push({ text, rendered, wanted })
  }
  t.strictSame(different.slice(0, 3), [])
  t.equal(same, ROUNDS)
})

function randomTemplate(next: () => number, pick: <T>(list: readonly T[]) => T, depth: number): string {
  let text = ''
  for (let left = 1 + Math.floor(next() * 6); left > 0; left--) {
    if (depth > 3 || next() < 0.65) text += pick(PIECES)
    else {
      const [open, close] = pick(OPENINGS)
      text += open + randomTemplate(next, pick, depth + 1)
      if (next() < 0.4) text += pick(ELSES) + randomTemplate(next, pick, depth + 1)
      text += next() < 0.3 ? `\n${close}\n` : close
    }
  }
  return text
}

function ours(text: string): string {
  const rendered = renderCompiled(compile({ html: text }), JSON.stringify(DATA))
  if (rendered.kind === 'failed') return rendered.failure.sentence
  return Buffer.from(rendered.parts.get('html') as Uint8Array).toString()
}

/** The same numbers from the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
