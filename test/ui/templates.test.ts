import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILES = globSync('packages/{ui,dashboard,sandbox,api}/src/**/*.ts', { cwd: ROOT }).sort()

/** What a template must not have, because escaping does not make it safe or the policy of pages refuses it. */
const FORBIDDEN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a value in an attribute without quotes', /<[a-z][^<>]*\s[\w-]+=\$\{/],
  ['a handler in the page', /<[a-z][^<>]*\son[a-z]+=/],
  ['a style in the page', /<[a-z][^<>]*\sstyle=/],
  ['code in an htmx attribute', /hx-(?:on|vals="js:|headers="js:)/],
  ['a URL that runs a script', /(?:href|src|action)="javascript:/],
]

t.test('no template has an unquoted value, a handler, a style or code in an attribute', async (t) => {
  const templates = FILES.filter((file) => readFileSync(`${ROOT}/${file}`, 'utf8').includes('html`'))
  t.ok(templates.length > 10, `${templates.length} files with templates`)
  for (const file of templates) {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8')
    for (const [name, pattern] of FORBIDDEN) {
      const found = pattern.exec(text)
      t.notOk(found, `${file}: ${name}: ${found?.[0]}`)
    }
  }
})

t.test('nothing but the tag itself makes HTML of a text', async (t) => {
  for (const file of FILES) {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8')
    if (file !== 'packages/ui/src/html.ts') t.notMatch(text, /from 'hono/, file)
    else t.match(text, "import { html as tag } from 'hono/html'", 'without raw, which escapes nothing')
  }
})
