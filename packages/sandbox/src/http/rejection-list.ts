import type { Rejections } from '../smtp/rejections.ts'
import { text } from './page-kit.ts'

const MAX_LISTED = 1000

/** The recipients that were rejected, as JSON, the newest first. */
export function rejectionList(rejections: Rejections, query: unknown) {
  const { q, before, limit } = query as Readonly<Record<string, unknown>>
  const most = /^[1-9]\d{0,3}$/.test(text(limit)) ? Math.min(Number(limit), MAX_LISTED) : 50
  const found = rejections.find({ q: text(q).slice(0, 200), before: text(before), limit: most })
  return {
    total: found.total,
    start: found.start,
    rejections: found.rejections.map(({ id, at, from, to, reply }) => ({
      id,
      at: at.toISOString(),
      from,
      to,
      code: reply?.code ?? null,
      text: reply?.text ?? null,
    })),
  }
}
