import type { Schema } from './fields.ts'

/** Values for examples, by the end of a parameter's name; the first row that fits counts. */
const TEXTS: readonly (readonly [end: string, text: string])[] = [
  ['email', 'lena@harbor.example'],
  ['url', 'https://shop.example/hooks'],
  ['domain', 'ship.example'],
  ['place', 'google'],
  ['rules', 'strict'],
  ['end_date', '2026-01-11'],
  ['date', '2026-01-05'],
  ['html_content', '<p>Your berth is ready.</p>'],
  ['subject', 'Your berth is ready'],
  ['reason', 'Requested by the provider'],
  ['template_id', 'd-0b0f1c6f8f2a4c7c9d3f5a1e2b4c6d8e'],
  ['batch_id', 'MTc2NzYwNzg3NDAwMDAwMDAw'],
  ['test_data', '{"name":"Lena"}'],
  ['classification', 'Reputation'],
  ['for', '24h'],
  ['id', '7d1f0c52'],
  ['username', 'dock7'],
  ['name', 'Berths'],
  ['password', 'Anchor77x'],
]

/** Returns a value that fits the schema and the parameter's name. Optional fields of a query are left out. */
export function sampleOf(schema: Schema, name = '', depth = 0): unknown {
  const { anyOf, type, items, properties, required, examples } = schema
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0] as Schema, name, depth)
  if (type === 'array') return [sampleOf((items ?? {}) as Schema, name.endsWith('s') ? name.slice(0, -1) : name, depth)]
  if (type === 'integer' || type === 'number') return Math.max(Number(schema.minimum ?? 1), 1)
  if (type === 'boolean') return true
  if (type === 'object') {
    const needed = (required ?? []) as readonly string[]
    const all = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>)
    const shown = needed.length > 0 || depth > 2 ? all.filter(([key]) => needed.includes(key)) : all
    return Object.fromEntries(shown.map(([key, one]) => [key, sampleOf(one, key, depth + 1)]))
  }
  return TEXTS.find(([end]) => name.toLowerCase().endsWith(end))?.[1] ?? 'text'
}
