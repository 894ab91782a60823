import { createDynamicRenderer } from '../packages/core/src/content/engine/index.ts'
import { RECEIPT, receiptData } from './harness/receipt.ts'
import { median } from './harness/rounds.ts'

/**
 * Renderings per second of a dynamic template of 10 kB with a loop of ten rows, by themselves: one recipient at a time, sixteen calls at once,
 * and a hundred recipients in one call. By the threads that render in the service. `node bench/renderings.ts`
 */
const ROUNDS = 5
const SECONDS = 2

const renderer = createDynamicRenderer()

/** As many callers as `atOnce`, each with so many recipients in a call. */
async function rate(atOnce: number, recipients: number): Promise<number> {
  const began = performance.now()
  let done = 0
  const call = async (): Promise<void> => {
    while (performance.now() - began < SECONDS * 1000) {
      const rendered = await renderer.renderDynamic(
        RECEIPT,
        Array.from({ length: recipients }, (_none, at) => receiptData(`Lena ${at}`)),
      )
      for (const { kind } of rendered) if (kind !== 'rendered') throw new Error(`not rendered: ${kind}`)
      done += recipients
    }
  }
  await Promise.all(Array.from({ length: atOnce }, call))
  return done / ((performance.now() - began) / 1000)
}

await rate(16, 1)
for (const [name, atOnce, recipients] of [
  ['one at a time', 1, 1],
  ['sixteen calls at once', 16, 1],
  ['a hundred recipients in a call', 1, 100],
] as const) {
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round++) rates.push(await rate(atOnce, recipients))
  console.log(
    `${name}: ${Math.round(median(rates)).toLocaleString('en')} renderings/s (${rates.map(Math.round).join(', ')})`,
  )
}
await renderer.close()
