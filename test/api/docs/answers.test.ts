import t from 'tap'
import { ANSWERING, recordedAnswers } from '../../../packages/api/src/docs/answers.ts'

const answers = recordedAnswers()
/** There are none, whoever asks. */
const EMPTY = ['listAlerts']

t.test(
  'every operation of v3 and the operator whose success has a body has an answer that says something',
  async (t) => {
    for (const [api, operations] of Object.entries(ANSWERING)) {
      t.ok(operations.length > 10, `${operations.length} operations`)
      const missing = operations.filter(
        ({ name }) =>
          !EMPTY.includes(name) &&
          ['null', '[]', '{}', undefined].includes(JSON.stringify(answers[api]?.[name]?.example)),
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
    JSON.stringify(answers),
    /<(?:now|key|prefix|pem|uuid|hex|page|message|batch|event|token|tag|number|receiver|base|in|first|seconds|milliseconds)\b/,
  )
})
