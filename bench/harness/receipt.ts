import { prose } from './messages.ts'

const ROW = '<tr><td>{{number}}</td><td>{{name}}</td><td>{{#if late}}late{{else}}{{price}}{{/if}}</td></tr>\r\n'
const OCTETS = 9000

/** A receipt as a dynamic template of some 10 kB: a table with a row for each item, and what is the same for all recipients. */
export const RECEIPT = {
  subject: 'Your berth, {{name}}',
  html: `<p>Dear {{name}},</p>\r\n<table>\r\n{{#each items}}${ROW}{{/each}}</table>\r\n${prose(OCTETS, 7)}`,
} as const

/** Its data for one recipient, with ten items. */
export function receiptData(name: string): Record<string, unknown> {
  const item = (_none: unknown, at: number) => ({
    number: 1000 + at,
    name: `Rope & sail no. ${at}`,
    price: `${at}.50`,
    late: at === 3,
  })
  return { name, items: Array.from({ length: 10 }, item) }
}
