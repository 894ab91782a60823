import { readFileSync } from 'node:fs'
import t from 'tap'
import { ANSWERING, DOCS_ANSWERS, docsAnswers } from '../../helpers/docs-answers.ts'

const file: ReturnType<typeof docsAnswers> = JSON.parse(readFileSync(DOCS_ANSWERS, 'utf8'))

t.test('the answers that the documentation shows are those of the recorded calls', async (t) => {
  const recorded = docsAnswers()
  for (const api of ['v3', 'operator'] as const) {
    t.strictSame(Object.keys(file[api] ?? {}), Object.keys(recorded[api] ?? {}), api)
    const differing = Object.keys(recorded[api] ?? {}).filter(
      (name) => JSON.stringify(file[api]?.[name]) !== JSON.stringify(recorded[api]?.[name]),
    )
    t.strictSame(differing, [], 'if the change is intended, run npm run docs and review the diff')
  }
})

t.test(
  'every operation of v3 and the operator whose success has a body has an answer that says something',
  async (t) => {
    for (const [api, operations] of Object.entries(ANSWERING)) {
      t.ok(operations.length > 10, `${operations.length} operations`)
      const missing = operations.filter(({ name }) =>
        ['null', '[]', '{}', undefined].includes(JSON.stringify(file[api]?.[name]?.example)),
      )
      t.strictSame(
        missing.map(({ name }) => name),
        [],
        `record a call of ${api} that succeeds, and run npm run docs`,
      )
    }
  },
)

t.test('no example has a placeholder of the record', async (t) => {
  t.notMatch(
    readFileSync(DOCS_ANSWERS, 'utf8'),
    /<(?:now|key|prefix|pem|uuid|hex|page|message|batch|event|token|tag|number|receiver|base|in|first|seconds|milliseconds)\b/,
  )
})
