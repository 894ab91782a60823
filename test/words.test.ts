import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ALLOWED, PROBLEM_WITH_SUBJECT, WORD_PATTERNS } from './words.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Sources and documents. */
const FILES = globSync(
  [
    'packages/*/src/**/*.ts',
    'docs/**/*.md',
    'packages/*/README.md',
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'sql/README.md',
    'sql/[0-9]*.sql',
  ],
  { cwd: ROOT },
).sort()

t.test('sources and documents have none of the wordings that readers stumble over', async (t) => {
  t.ok(FILES.length > 500, 'the files are found')
  const unused = new Set(ALLOWED)
  for (const path of FILES) {
    const source = readFileSync(join(ROOT, path), 'utf8')
    for (const [at, line] of source.split('\n').entries()) {
      for (const { pattern, instead } of WORD_PATTERNS) {
        const found = pattern.exec(line)
        if (!found) continue
        const allowed = ALLOWED.filter(
          (entry) => entry.startsWith(`${path}: `) && line.includes(entry.slice(path.length + 2)),
        )
        for (const entry of allowed) unused.delete(entry)
        if (allowed.length === 0) t.fail(`${path}:${at + 1}: "${found[0].trim()}"; write: ${instead}`)
      }
    }
    for (const { index } of source.matchAll(PROBLEM_WITH_SUBJECT)) {
      t.fail(`${path}:${source.slice(0, index).split('\n').length}: the problem of a parameter begins with "it"`)
    }
  }
  t.strictSame([...unused], [], 'no entry of the allow-list is unused; remove those from test/words.ts')
})

/** The titles of tests, as literals; what a template fills in is not read. */
const TITLE = /\.test\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g

t.test('titles of tests have none of them either', async (t) => {
  let titles = 0
  for (const path of globSync('test/**/*.ts', { cwd: ROOT }).sort()) {
    for (const [, single, double, template] of readFileSync(join(ROOT, path), 'utf8').matchAll(TITLE)) {
      const title = (single ?? double ?? template ?? '').replace(/\$\{[^}]*\}/g, '')
      titles++
      for (const { pattern, instead } of WORD_PATTERNS) {
        const found = pattern.exec(title)
        if (found) t.fail(`${path}: "${title}" has "${found[0].trim()}"; write: ${instead}`)
      }
    }
  }
  t.ok(titles > 2_500, `${titles} titles`)
})

t.test('each pattern matches its bad line and not its good line', async (t) => {
  for (const { pattern, bad, good } of WORD_PATTERNS) {
    t.match(bad, pattern)
    t.notMatch(good, pattern)
  }
  const found = (text: string) => [...text.matchAll(PROBLEM_WITH_SUBJECT)].length
  t.equal(found("throw invalidParameter(\n  'tags',\n  'it must be a list')"), 1)
  t.equal(found("throw invalidParameter('tags', 'must be a list')"), 0)
})
