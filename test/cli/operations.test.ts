import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'

const known = new Set(COMMANDS.map(({ name }) => name))

for (const [title, operations] of [
  ['v2', OPERATIONS],
  ['v3', V3_OPERATIONS],
  ["the operator's interface", OPERATOR_OPERATIONS],
] as const) {
  t.test(`every operation of ${title} has a command, or a reason why not`, async (t) => {
    for (const { name, cli } of operations) {
      if (typeof cli === 'string') t.ok(known.has(cli), `${name}: the command ${cli} exists`)
      else t.ok(cli.none.length > 10, `${name}: a reason`)
    }
  })
}
