import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  createTransactionNumbers,
  type TransactionNumbers,
  transactionNumber,
} from '../../../packages/core/src/submission/transaction-numbers.ts'
import { makeDatabase } from '../../helpers/database.ts'
import { BARE_ENVIRONMENT } from '../../helpers/processes.ts'

/** How many numbers the counter's seven digits hold. */
const CYCLE = 2_500_000
const NOW = Date.UTC(2026, 0, 5, 10, 11, 12, 345)

const database = await makeDatabase()
t.teardown(() => database.drop())

/** All numbers of a message of so many recipients. */
async function take(numbers: TransactionNumbers, count: number, now = NOW): Promise<string[]> {
  const base = await numbers.take(count, now)
  return Array.from({ length: count }, (_, recipientNo) => transactionNumber(base, recipientNo))
}

t.test('a number is ten digits of Unix time and seven of a counter, and a multiple of 4', async (t) => {
  const numbers = createTransactionNumbers(database.sql)
  for (let count = 1; count < 50; count++) {
    for (const number of await take(numbers, count)) {
      t.match(number, /^1767607872\d{7}$/)
      t.equal(BigInt(number) % 4n, 0n)
      t.equal(BigInt(Number(number)), BigInt(number), 'a double holds it exactly')
      t.equal(String(JSON.parse(number)), number)
    }
  }
})

t.test('the last moment a double holds every number exactly is beyond the year 2100', async (t) => {
  for (const year of [2026, 2027, 2050, 2100]) {
    const number = (await take(createTransactionNumbers(database.sql), 1, Date.UTC(year, 11, 31)))[0] as string
    t.equal(String(BigInt(Number(number))), number, String(year))
  }
})

t.test('numbers of many messages of one second, taken at once, are all different', async (t) => {
  const numbers = createTransactionNumbers(database.sql)
  const sizes = [1, 2, 3, 1000, 10_000, 1, 16_000, 7, 10_000]
  const taken = await Promise.all(
    Array.from({ length: 60 }, (_, at) => take(numbers, sizes[at % sizes.length] as number)),
  )
  t.equal(new Set(taken.flat()).size, taken.flat().length)
})

t.test(
  'where the counter starts over a message keeps its numbers in a row, and the next one keeps off them',
  async (t) => {
    const numbers = await numbersFrom(Math.floor((CYCLE - 20_000) / 16_384) * 16_384)
    const taken: string[] = []
    while (taken.length < 60_000) taken.push(...(await take(numbers, 999)))
    t.equal(new Set(taken).size, taken.length)
    for (const number of taken) if (!/^1767607872\d{7}$/.test(number)) t.fail(number)
  },
)

t.test('no place of the cycle makes two messages of one second share a number', async (t) => {
  for (const count of [2, 10, 5000, 10_000]) {
    for (const before of [1, count - 1, count, count + 1]) {
      const numbers = await numbersFrom(CYCLE - before)
      const taken = [...(await take(numbers, count)), ...(await take(numbers, count)), ...(await take(numbers, 1))]
      t.equal(new Set(taken).size, taken.length, `${count} recipients, ${before} before the end`)
    }
  }
})

t.test('two processes on one database never take the same number', async (t) => {
  const taken = (await Promise.all([takeInProcess(), takeInProcess()])).flat()
  t.equal(taken.length, 2 * 40 * 1000)
  t.equal(new Set(taken).size, taken.length)
})

t.test('a database that fails once is requested again', async (t) => {
  const numbers = createTransactionNumbers(database.sql)
  await database.sql`alter sequence transaction_numbers rename to hidden`
  await t.rejects(numbers.take(1, NOW))
  await database.sql`alter sequence hidden rename to transaction_numbers`
  t.match((await take(numbers, 1))[0], /^1767607872/)
})

/** A process that starts when the database's counter has come to this place. */
async function numbersFrom(place: number): Promise<TransactionNumbers> {
  await database.sql`select setval('transaction_numbers', ${place}, false)`
  return createTransactionNumbers(database.sql)
}

async function takeInProcess(): Promise<string[]> {
  const code = `import { openDatabase } from '@postrider/core'
    import { transactionNumber, createTransactionNumbers } from './packages/core/src/submission/transaction-numbers.ts'
    const sql = openDatabase({ url: process.argv[1], name: 'test', connections: 1 })
    const numbers = createTransactionNumbers(sql)
    const taken = []
    for (let round = 0; round < 40; round++) {
      const base = await numbers.take(1000, ${NOW})
      for (let no = 0; no < 1000; no++) taken.push(transactionNumber(base, no))
    }
    await sql.end()
    process.stdout.write(JSON.stringify(taken))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, database.url], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: BARE_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  return JSON.parse(output) as string[]
}
