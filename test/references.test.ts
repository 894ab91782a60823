import t from 'tap'
import { RULES } from '../packages/api/src/v3/mail-send/rules.ts'
import {
  anchorsOf,
  citingFiles,
  isThere,
  linksIn,
  type Numbered,
  readPages,
  readText,
  referencesIn,
} from './helpers/references.ts'

const pages = readPages()
const files = citingFiles().map((path) => ({ path, text: readText(path) }))

t.test('every cited section, row, pair, threat, fault, promise and decision is there', async (t) => {
  let cited = 0
  for (const { path, text } of files) {
    // This test and its helper cite numbers that are not there.
    if (/references(\.test)?\.ts$/.test(path)) continue
    for (const { page, number, text: words } of referencesIn(path, text)) {
      cited++
      if (page === undefined) t.fail(`${path}: "${words}" does not say which contract, v2 or v3`)
      else if (!pages[page].numbers.has(number) && !isNotInUse(pages[page], number, path)) {
        t.fail(`${path}: "${words}": there is no ${page} ${number}`)
      }
    }
  }
  t.ok(cited > 500, `${cited} citations were found`)
})

t.test('a citation that leads nowhere is found, whatever it cites', async (t) => {
  const cases = [
    ['packages/core/src/a.ts', '(v2 contract 12.9)', 'v2 contract', ['12.9']],
    ['packages/core/src/a.ts', '(contract section 3)', undefined, ['3']],
    ['packages/api/src/v3/a.ts', '(contract rows 18 and 99)', 'v3 row', ['18', '99']],
    ['packages/api/src/v2/a.ts', '(contract sections 9 and 12.2), and', 'v2 contract', ['9', '12.2']],
    ['packages/api/src/v2/a.ts', 'as section 13 of the contract has it', 'v2 contract', ['13']],
    ['packages/api/src/v3/a.ts', 'the contract’s 2.4: method, key', 'v3 contract', ['2.4']],
    ['packages/core/src/a.ts', 'refused (V20, V99)', 'threat', ['V20', 'V99']],
    ['packages/core/src/a.ts', '(F32: never sent)', 'fault', ['F32']],
    ['packages/core/src/a.ts', '(P1, P7)', 'promise', ['P1', 'P7']],
    ['test/api/v3/a.test.ts', "t.test('P29: a template", 'v3 pair', ['P29']],
    ['test/api/v2/a.test.ts', 'examples (E14, X154)', 'v2 pair', ['E14', 'X154']],
    ['docs/a.md', '[decision 99](decisions/0099-x.md)', 'decision', ['99', '99']],
  ] as const
  for (const [path, text, page, numbers] of cases) {
    const found = referencesIn(path, text)
    t.strictSame(
      found.map(({ number }) => number),
      numbers,
      text,
    )
    t.ok(
      found.every((reference) => reference.page === page),
      text,
    )
  }
})

t.test('every gap in a numbering is explained on its page', async (t) => {
  for (const [name, { numbers, unused }] of Object.entries(pages) as [string, Numbered][]) {
    t.ok(numbers.size > 5, `${name}: ${numbers.size}`)
    const whole = [...numbers].filter((number) => !number.includes('.'))
    for (const letter of new Set(whole.map((number) => number.replace(/\d+$/, '')))) {
      const ours = whole.filter((number) => number.replace(/\d+$/, '') === letter)
      // The numbers of error pairs are those of errors.
      if (letter === 'X') continue
      const width = letter === 'V' || letter === 'F' ? 2 : 1
      const highest = Math.max(...ours.map((number) => Number(number.slice(letter.length))))
      for (let at = 1; at <= highest; at++) {
        const number = `${letter}${String(at).padStart(width, '0')}`
        t.not(numbers.has(number), unused.has(number), `${name} ${number} is there, or said not to be in use`)
      }
    }
  }
})

t.test('every threat, fault and promise names its test, or says that there is none', async (t) => {
  for (const path of ['docs/threats.md', 'docs/faults.md', 'docs/promises.md']) {
    const rows = readText(path)
      .split('\n')
      .filter((line) => /^\| \*\*[VFP]\d/.test(line))
    t.ok(rows.length > 5, path)
    for (const row of rows) {
      const tests = [...row.matchAll(/`((?:test|packages)\/[^`]+)`/g)].map(([, file = '']) => file)
      t.ok(tests.length > 0 || /\bno test\b/i.test(row), row.slice(0, 60))
      for (const file of tests) t.ok(isThere(file), `${row.slice(0, 40)}: ${file}`)
    }
  }
})

/** The number of requirements of levels 1 and 2 in each section of OWASP ASVS 5.0.0; they come before those of level 3. */
const ASVS: Readonly<Record<string, number>> = {
  ...{
    '1.1': 2,
    '1.2': 9,
    '1.3': 11,
    '1.4': 3,
    '1.5': 2,
    '2.1': 3,
    '2.2': 3,
    '2.3': 4,
    '2.4': 1,
    '3.2': 2,
    '3.3': 4,
    '3.4': 6,
  },
  ...{
    '3.5': 5,
    '3.7': 2,
    '4.1': 3,
    '4.2': 1,
    '4.3': 2,
    '4.4': 4,
    '5.1': 1,
    '5.2': 3,
    '5.3': 2,
    '5.4': 3,
    '6.1': 3,
    '6.2': 12,
  },
  ...{
    '6.3': 4,
    '6.4': 4,
    '6.5': 5,
    '6.6': 3,
    '6.8': 4,
    '7.1': 3,
    '7.2': 4,
    '7.3': 2,
    '7.4': 5,
    '7.5': 2,
    '7.6': 2,
    '8.1': 2,
  },
  ...{
    '8.2': 3,
    '8.3': 1,
    '8.4': 1,
    '9.1': 3,
    '9.2': 4,
    '10.1': 2,
    '10.2': 2,
    '10.3': 4,
    '10.4': 11,
    '10.5': 5,
    '10.6': 2,
  },
  ...{
    '10.7': 3,
    '11.1': 2,
    '11.2': 3,
    '11.3': 3,
    '11.4': 4,
    '11.5': 1,
    '11.6': 1,
    '12.1': 3,
    '12.2': 2,
    '12.3': 4,
    '13.1': 1,
  },
  ...{
    '13.2': 5,
    '13.3': 2,
    '13.4': 5,
    '14.1': 2,
    '14.2': 4,
    '14.3': 3,
    '15.1': 3,
    '15.2': 3,
    '15.3': 7,
    '16.1': 1,
    '16.2': 5,
  },
  ...{ '16.3': 4, '16.4': 3, '16.5': 3, '17.1': 1, '17.2': 4, '17.3': 2 },
}

t.test('every requirement of OWASP ASVS is on its page once, with what became of it', async (t) => {
  const rows = readText('docs/asvs.md')
    .split('\n')
    .flatMap(
      (line) => /^\| (\d+\.\d+\.\d[^|]*) \|[^|]+\| (kept|partly|not kept|operator|none) \|/.exec(line)?.[1] ?? [],
    )
  const found = rows.flatMap((cell) =>
    cell.split(', ').flatMap((part) => {
      const [, section, first, last = first] = /^(\d+\.\d+)\.(\d+)(?: to \1\.(\d+))?$/.exec(part) ?? []
      return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${section}.${Number(first) + at}`)
    }),
  )
  const wanted = Object.entries(ASVS).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
  )
  t.strictSame(found.toSorted(), wanted.toSorted())
})

t.test('every link of a document leads to a file, and to a heading where it names one', async (t) => {
  for (const { path, text } of files.filter(({ path }) => path.endsWith('.md'))) {
    for (const { target, path: to, anchor } of linksIn(path, text)) {
      if (!t.ok(isThere(to), `${path}: ${target}`) || anchor === undefined || !to.endsWith('.md')) continue
      t.ok(anchorsOf(readText(to)).has(anchor), `${path}: ${target}`)
    }
  }
})

t.test('the index of the documents links each of them', async (t) => {
  const index = 'docs/README.md'
  const linked = new Set(linksIn(index, readText(index)).map(({ path }) => path))
  const documents = files.map(({ path }) => path).filter((path) => /^docs\/.*\.md$/.test(path) && path !== index)
  t.ok(documents.length > 30)
  for (const path of documents) t.ok(linked.has(path), path)
})

t.test('every document that code, tests or SQL name by its path is there', async (t) => {
  for (const { path, text } of files) {
    if (path.endsWith('.md') || /references(\.test)?\.ts$/.test(path)) continue
    for (const [named] of text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)) t.ok(isThere(named), `${path}: ${named}`)
  }
})

t.test('every function that CONTRIBUTING.md names exists', async (t) => {
  const page = readText('CONTRIBUTING.md')
  const table = page.slice(page.indexOf('| step | function or constant |'))
  const names = table.split('\n').flatMap((line) => [...(line.split('|')[2] ?? '').matchAll(/`(\w+)`/g)])
  t.ok(names.length > 8)
  const source = files.filter(({ path }) => path.startsWith('packages/')).map(({ text }) => text)
  for (const [, name = ''] of names) {
    const declared = new RegExp(`^export (async )?(function|const) ${name}\\b`, 'm')
    t.ok(
      source.some((text) => declared.test(text)),
      name,
    )
  }
})

t.test('the v3 contract has the message of every rule in its row', async (t) => {
  const rows = new Map(
    readText('docs/contract-v3.md')
      .split('\n')
      .flatMap((line) => {
        const number = /^\| (\d+) \|/.exec(line)?.[1]
        return number ? [[Number(number), line] as const] : []
      }),
  )
  for (const { row, sentence } of Object.values(RULES)) {
    if (row === 0 || row === 31) continue
    t.ok(rows.get(row)?.includes(`\`${sentence.replaceAll('|', '\\|')}\``), `row ${row}: ${sentence.slice(0, 60)}`)
  }
})

/** The pages themselves name the numbers that they do not use. */
function isNotInUse({ unused }: Numbered, number: string, path: string): boolean {
  return unused.has(number) && /^docs\/(contract-v\d|threats|faults|promises)\.md$/.test(path)
}
