import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { BOUNCE_WORDING, COLUMN, EVENT_TYPE, OPERATION, RULE } from './changes.ts'
import { copyTree, type Edit } from './copy.ts'

/**
 * The recipes of CONTRIBUTING.md, executed: each change is made to a copy of the tree, the tests that the recipe names are run, and the
 * files that had to be edited are counted.
 */
const GUIDE = readFileSync(fileURLToPath(new URL('../../CONTRIBUTING.md', import.meta.url)), 'utf8')

const copy = copyTree(t)

/** The files of the edits; each is in a folder or file that the recipe names. */
function filesOf(edits: readonly Edit[], title: string): string[] {
  const start = GUIDE.indexOf(`**${title}**`)
  const recipe = GUIDE.slice(start, GUIDE.indexOf('\n**', start))
  const files = [...new Set(edits.map(([file]) => file))]
  for (const file of files) {
    const places = file.split('/').map((_, at, parts) => parts.slice(0, at + 1))
    const isNamed = places.some(
      (parts) => recipe.includes(`\`${parts.join('/')}\``) || (parts.length > 2 && recipe.includes(parts.join('/'))),
    )
    if (start === -1 || !isNamed) {
      throw new Error(`the recipe "${title}" does not name ${file}`)
    }
  }
  return files
}

t.test('an operation is three files, and a test names those that are missing', async (t) => {
  const { row, test, page, check } = OPERATION
  t.equal(filesOf([row, test, page], 'An operation').length, 3)
  copy.edit(row)
  await t.rejects(copy.run('test/api/operation-parts.test.ts'), {
    message:
      /listAuditObjects: a test of its own, in test\/api\/v2[\s\S]*listAuditObjects: its path, in the page of its subject in docs/,
  })
  copy.edit(test, page, check)
})

t.test('a bounce wording is two files, and its test fails without the rule', async (t) => {
  const { rule, test } = BOUNCE_WORDING
  t.equal(filesOf([rule, test], 'A bounce wording').length, 2)
  copy.edit(test)
  await t.rejects(copy.run(test[0]), { message: /The quay of lena is closed/ })
  copy.edit(rule)
})

t.test('a rule for all entry points is two files', async (t) => {
  const { rule, test } = RULE
  t.equal(filesOf([rule, test], 'A rule for messages').length, 2)
  copy.edit(rule, test)
})

t.test('with these changes their tests pass, and those that name what is missing', async () => {
  const { test, check } = OPERATION
  const named = ['test/api/operation-parts.test.ts', 'test/cli/operations.test.ts']
  await copy.run(...named, test[0], check[0], BOUNCE_WORDING.test[0], RULE.test[0])
})

t.test('an event type that is neither counted nor indexed is three files', async (t) => {
  const { row, migration, page } = EVENT_TYPE
  t.equal(filesOf([row, migration, page], 'An event type').length, 3)
  copy.edit(row, migration, page)
})

t.test('a column of messages is three files, generated ones aside', async (t) => {
  t.equal(filesOf(Object.values(COLUMN), 'The schema').length, 3)
  copy.edit(...Object.values(COLUMN))
})

t.test('with both changes of the schema their tests pass', async () => {
  await copy.runMigrated('test/core/events/event-types.test.ts', COLUMN.check[0])
})
